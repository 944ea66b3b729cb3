/** Sample environments and template parameters for the tests of the pages. */

import type { Container, Environment, Parameter, Source, Variable } from "../src/shared/protocol";

export function source(kind: string, object: string | null = null, key: string | null = null, line = 12): Source {
  return { kind, object, key, file: "shop/web.yaml", line };
}

export function variable(name: string, value: string | null, more: Partial<Variable> = {}): Variable {
  return { name, value, state: "known", raw: value, source: source("env"), hides: [], ...more };
}

export function container(more: Partial<Container> = {}): Container {
  return {
    name: "main",
    role: "container",
    env: [],
    command: [],
    args: [],
    probes: [],
    subPaths: [],
    unresolved: [],
    opaque: [],
    failures: [],
    ...more,
  };
}

/** The password in the sample; it must not be visible until it is revealed. */
export const PASSWORD = "correct horse";

export function sample(shown: boolean, name = "main"): Environment {
  const text = "http://<cluster IP of cache>:6379/";
  return {
    schema: "podlens/env/v2",
    workloads: [
      {
        file: "shop/web.yaml",
        line: 1,
        apiVersion: "apps/v1",
        kind: "Deployment",
        name: "web",
        namespace: "shop",
        view: null,
        services: ["cache", "kubernetes"],
        presets: [
          { name: "database", file: "shop/preset.yaml", line: 1, applied: true, conflicts: [] },
          {
            name: "proxy",
            file: "shop/preset.yaml",
            line: 20,
            applied: false,
            conflicts: [{ kind: "env", name: "PORT", container: name, with: { file: "shop/web.yaml", line: 30 } }],
          },
        ],
        containers: [
          container({
            name,
            env: [
              variable("CACHE_SERVICE_HOST", "<cluster IP of cache>", { state: "unknown", raw: null, source: source("service", "cache") }),
              variable("CACHE_URL", text, { state: "partial", raw: "http://$(CACHE_SERVICE_HOST):6379/" }),
              variable("DB_PASSWORD", shown ? PASSWORD : null, {
                state: "secret",
                raw: null,
                source: source("secret", "database-login", "password", 4),
              }),
              variable("EMPTY", ""),
              variable("HTML", "<img src=x onerror=alert(1)>"),
              variable("LOG_LEVEL", "debug", { hides: [source("configMap", "settings", "LOG_LEVEL", 7)] }),
              variable("REGION", null, {
                state: "unknown",
                raw: null,
                source: source("configMap", "region", "REGION"),
                alternatives: [
                  { value: "eu", source: source("configMap", "region", "REGION", 3) },
                  { value: "us", source: source("configMap", "region", "REGION", 9) },
                ],
              }),
              variable("URL", `${text}debug`, { state: "partial", raw: "$(CACHE_URL)$(LOG_LEVEL)" }),
            ],
            command: [{ value: "serve", state: "known", raw: "serve" }],
            args: [
              { value: `--url=${text}debug`, state: "partial", raw: "--url=$(URL)" },
              { value: "--greet=$(VISITOR)", state: "known", raw: "--greet=$(VISITOR)" },
            ],
            probes: [{ probe: "livenessProbe", command: [{ value: "check", state: "known", raw: "check" }] }],
            subPaths: [{ mountPath: "/logs", value: "debug", state: "known", raw: "$(LOG_LEVEL)" }],
            unresolved: [
              { name: "VISITOR", file: "shop/web.yaml", line: 41, column: 15, why: "undefined" },
              { name: "HOME", file: "shop/web.yaml", line: 45, column: 30, why: "undefined" },
            ],
            opaque: [{ kind: "configMap", object: "shop-conifg", prefix: "SHOP_", why: "not in these files" }],
            failures: [
              { name: "DB_USER", why: "missingKey", file: "shop/web.yaml", line: 33 },
              { name: "HOME", why: "emptySubPath", file: "shop/web.yaml", line: 45 },
            ],
          }),
        ],
      },
    ],
  };
}

/** A certificate with the given number of lines. */
export function certificate(lines: number): string {
  const body = Array.from({ length: lines - 2 }, (_, line) => String(line).padEnd(64, "MIIDdzCCAl+gAwIBAgIEbVkw"));
  return ["-----BEGIN CERTIFICATE-----", ...body, "-----END CERTIFICATE-----"].join("\n");
}

/** A container with many variables, long values and long names. */
export function crowded(count: number): Environment {
  const many = Array.from({ length: count }, (_, at) => variable(`SETTING_${String(at).padStart(3, "0")}`, `value ${at}`));
  const services = Array.from({ length: 7 * 20 }, (_, at) =>
    variable(`BACKEND_${at}_SERVICE_HOST`, `<cluster IP of backend-${at}>`, { state: "unknown", raw: null, source: source("service", `backend-${at}`) }),
  );
  const chain = Array.from({ length: 12 }, (_, at) => variable(`STEP_${at}`, "x", { raw: at === 0 ? "x" : `$(STEP_${at - 1})` }));
  const env = [
    variable("CERTIFICATE", `${certificate(40)}\n`, { source: source("configMap", "certificates-of-the-authority-that-signs", "ca.pem") }),
    variable("LINK", `https://example.com/?${"token=0123456789abcdef&".repeat(40)}`),
    variable("A_VERY_LONG_NAME_OF_A_VARIABLE_THAT_SOMEBODY_GENERATED_FROM_A_CLASS_NAME", "short"),
    ...chain,
    ...many,
    ...services,
  ];
  const base = sample(false);
  const workload = base.workloads[0];
  if (workload !== undefined) {
    workload.presets = [];
    workload.containers = [container({ env, args: [{ value: `--ca=${certificate(40)}`, state: "known", raw: "--ca=$(CERTIFICATE)" }] })];
  }
  return base;
}

export function parameter(name: string, more: Partial<Parameter> = {}): Parameter {
  return {
    name,
    displayName: null,
    description: null,
    value: null,
    generate: null,
    from: null,
    required: false,
    type: null,
    ...more,
  };
}

export const PARAMETERS: Parameter[] = [
  parameter("APP_NAME", { displayName: "Name of the application", description: "Used in the name of every object.", value: "shop", required: true }),
  parameter("REPLICAS", { description: "The number of pods.", value: "2", type: "int" }),
  parameter("DEBUG", { value: "false", type: "bool" }),
  parameter("PASSWORD", { description: "Generated if it is empty.", generate: "expression", from: "[a-zA-Z0-9]{16}" }),
  parameter("TOKEN", { required: true }),
];
