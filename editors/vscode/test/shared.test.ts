/** Unit tests of the code in src/shared and src/binary.ts. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  countText,
  displayValue,
  dotenv,
  failureText,
  isLong,
  lengthText,
  locationText,
  matchesQuery,
  opaqueText,
  sortVariables,
  unresolvedOnly,
  unresolvedText,
} from "../src/shared/environment";
import { documentAt, firstContentLine } from "../src/shared/documents";
import { graphOf, references } from "../src/shared/graph";
import { pageHtml } from "../src/shared/html";
import { changedValues, defaultNote, fieldsOf, otherProblems } from "../src/shared/parameters";
import { BinaryError, checkBinary, chooseBinary } from "../src/binary";
import { PARAMETERS, PASSWORD, container, parameter, sample, source, variable } from "./samples";

const main = (shown: boolean) => {
  const found = sample(shown).workloads[0]?.containers[0];
  assert(found !== undefined);
  return found;
};

test("unknown variables come first, then the others by name", () => {
  const names = sortVariables(main(false).env).map((it) => it.name);
  assert.deepEqual(names, ["CACHE_SERVICE_HOST", "REGION", "CACHE_URL", "DB_PASSWORD", "EMPTY", "HTML", "LOG_LEVEL", "URL"]);
});

test("a search matches every word, but not the value of a masked secret", () => {
  const secret = variable("DB_PASSWORD", PASSWORD, { state: "secret", source: source("secret", "login", "password") });
  assert(matchesQuery(secret, "db LOGIN", false));
  assert(!matchesQuery(secret, "horse", false));
  assert(matchesQuery(secret, "horse", true));
  assert(!matchesQuery(secret, "db nothing", true));
});

test("values as the page shows them", () => {
  assert.equal(displayValue(variable("A", "x"), false), "x");
  assert.equal(displayValue(variable("A", null, { state: "unknown" }), false), "unknown");
  assert.equal(displayValue(variable("A", PASSWORD, { state: "secret" }), false), "••••••••");
  assert.equal(displayValue(variable("A", null, { state: "secret" }), true), "••••••••");
});

test("variables from services are counted separately", () => {
  const redis = variable("REDIS_SERVICE_HOST", null, { source: source("service", "redis") });
  assert.equal(countText([variable("A", "x")], 1, false), "1 variable");
  assert.equal(countText([variable("A", "x"), variable("B", "x"), redis], 3, false), "2 variables, 1 from services");
  const cluster = variable("KUBERNETES_PORT", null, { source: { ...source("service", "kubernetes"), file: null } });
  assert.equal(countText([variable("A", "x"), redis, cluster], 3, false), "1 variable, 1 from services, 1 from the cluster");
  assert.equal(countText([cluster], 1, false), "0 variables, 1 from the cluster");
  assert.equal(countText([variable("A", "x"), redis], 0, true), "0 of 2 variables");
});

test("the length of a long value is given in lines or characters", () => {
  assert(!isLong("a\nb\nc\nd\ne\nf\n"));
  assert.equal(lengthText("a\nb\nc\nd\ne\nf\ng\n"), "7 lines");
  assert(isLong("x".repeat(321)));
  assert.equal(lengthText("x".repeat(321)), "321 characters");
});

test("dotenv is valid shell syntax and contains only known, visible values", () => {
  const odd = container({
    env: [
      variable("A", "it's"),
      variable("no-name", "x"),
      variable("P", "a<hole>\nb", { state: "partial" }),
      variable("S", PASSWORD, { state: "secret" }),
    ],
  });
  const masked = dotenv(odd, false);
  assert.equal(masked.text, "A='it'\\''s'\n# no-name: x\n# P: a<hole> b\n# S: ••••••••\n");
  assert.equal(masked.count, 1);
  assert.match(dotenv(odd, true).text, /^S='correct horse'$/m);
});

test("a reference that keeps the container from starting is shown once, as a failure", () => {
  assert.deepEqual(unresolvedOnly(main(false)).map((it) => it.name), ["VISITOR"]);
  assert.deepEqual(main(false).failures.map(failureText), ["its key does not exist", "a sub path needs its value, and it has none"]);
});

test("reasons and sources as the page shows them", () => {
  const why = (reason: string) => unresolvedText({ name: "A", file: "a.yaml", line: 1, column: 1, why: reason });
  assert.equal(why("probe"), "exec probes do not see it");
  assert.equal(why("linksOff"), "it is a service variable, and service links are off");
  assert.equal(why("another reason"), "another reason");
  const opaque = { kind: "secret", object: "keys", prefix: "", why: "not in these files" };
  assert.equal(opaqueText(opaque), "secret keys may add variables: not in these files");
});

test("locations are shown without directories", () => {
  assert.equal(locationText({ file: "a/b/web.yaml", line: 3 }), "web.yaml:3");
  assert.equal(locationText({ file: null, line: null }), "");
});

test("references are found, escaped references are not", () => {
  assert.deepEqual(references("$(A)$$(B)$(A)$(C"), ["A"]);
  assert.deepEqual(references(null), []);
});

test("the graph has an edge for each reference, in columns", () => {
  const graph = graphOf(main(false));
  const edges = graph.edges.map(({ from, to }) => `${from} ${to}`);
  assert.deepEqual(edges, [
    "CACHE_SERVICE_HOST CACHE_URL",
    "CACHE_URL URL",
    "LOG_LEVEL URL",
    "URL args",
    "LOG_LEVEL mount /logs",
  ]);
  const column = Object.fromEntries(graph.nodes.map((node) => [node.name, node.column]));
  assert.deepEqual(column, { CACHE_SERVICE_HOST: 0, LOG_LEVEL: 0, CACHE_URL: 1, "mount /logs": 1, URL: 2, args: 3 });
});

test("a reference to a variable that is declared later is not an edge", () => {
  const at = (line: number) => ({ source: source("env", null, null, line) });
  const late = container({
    env: [variable("A", "x", at(30)), variable("B", "$(A)", at(20)), variable("C", "x", { raw: "$(A)", ...at(40) })],
    unresolved: [{ name: "A", file: "shop/web.yaml", line: 21, column: 20, why: "forward" }],
  });
  assert.deepEqual(graphOf(late).edges.map(({ from, to }) => `${from} ${to}`), ["A C"]);
});

test("an edge over several columns has a free cell in each, and connected nodes are close", () => {
  const graph = graphOf(main(false));
  const longEdge = graph.edges.find((edge) => edge.from === "LOG_LEVEL" && edge.to === "URL");
  assert.equal(longEdge?.through.length, 1);
  const cells = [...graph.nodes, ...graph.edges.flatMap((edge) => edge.through)].map(({ column, row }) => `${column} ${row}`);
  assert.deepEqual(cells.filter((cell, at) => cells.indexOf(cell) !== at), [], "two in the same cell");
  const wide = container({ env: ["A", "B", "C"].flatMap((it) => [variable(it, "x"), variable(`Z_${"CBA"[it.charCodeAt(0) - 65]}`, "x", { raw: `$(${it})` })]) });
  const rows = Object.fromEntries(graphOf(wide).nodes.map((node) => [node.name, node.row]));
  assert.deepEqual([rows["Z_C"], rows["Z_B"], rows["Z_A"]], [rows["A"], rows["B"], rows["C"]]);
});

test("the graph layout terminates on a loop", () => {
  const loop = container({ env: [variable("A", "$(B)"), variable("B", "$(A)$(B)")] });
  assert.deepEqual(graphOf(loop).nodes.map((node) => node.name).sort(), ["A", "B"]);
});

test("documents are separated at markers", () => {
  const text = "# about\n\nkind: A\n--- # next\n\nkind: B\nname: ---x\n---\n# nothing\n";
  assert.deepEqual([0, 2, 3, 5, 6, 8].map((line) => documentAt(text, line)), [0, 0, 1, 1, 1, 2]);
  assert.deepEqual([0, 1, 2].map((it) => firstContentLine(text, it)), [2, 5, 0]);
  assert.equal(firstContentLine("---\r\nkind: A\r\n", 1), 1);
});

test("each parameter has a field", () => {
  const fields = fieldsOf(PARAMETERS, [{ message: "has no value", parameter: "TOKEN" }], { REPLICAS: "5" });
  assert.deepEqual(fields.map((it) => it.input), ["text", "number", "choice", "text", "text"]);
  assert.deepEqual(fields.map((it) => it.initial), ["shop", "5", "false", "", ""]);
  assert.equal(fields[0]?.label, "Name of the application");
  assert.equal(fields[3]?.placeholder, "generated from [a-zA-Z0-9]{16}");
  assert.equal(fields[4]?.problem, "has no value");
  assert.equal(fieldsOf([parameter("A", { value: "a\nb" })], [], {})[0]?.input, "long");
});

test("a field that differs from the default shows the default", () => {
  const [named, , , generated] = fieldsOf(PARAMETERS, [], {});
  assert(named !== undefined && generated !== undefined);
  assert.equal(defaultNote(named, "store"), "Default: shop");
  assert.equal(defaultNote(named, "shop"), "");
  assert.equal(defaultNote(generated, "secret"), "");
});

test("only values that differ from the defaults are sent", () => {
  assert.deepEqual(changedValues(PARAMETERS, { APP_NAME: "", REPLICAS: "2", TOKEN: "", PASSWORD: "x" }), { APP_NAME: "", PASSWORD: "x" });
});

test("problems without a field are shown separately", () => {
  const problems = [
    { message: "a", parameter: null },
    { message: "b", parameter: "GONE" },
    { message: "c", parameter: "TOKEN" },
  ];
  assert.deepEqual(otherProblems(PARAMETERS, problems), ["a", "b"]);
});

test("the content security policy allows only the page's own script and style", () => {
  const html = pageHtml({ title: "t", script: "s.js", style: "s.css", styleSource: "https://own", nonce: "abc" });
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
  assert.equal(policy, "default-src 'none'; style-src https://own; script-src 'nonce-abc'; base-uri 'none'; form-action 'none'");
});

test("an empty server path selects the bundled server, a relative one is an error", () => {
  assert.deepEqual(chooseBinary(" ", "/ext", "linux"), { path: "/ext/bin/podlens", configured: false });
  assert.match(chooseBinary("", "/ext", "win32").path, /podlens\.exe$/);
  assert.equal(chooseBinary("/opt/podlens", "/ext").configured, true);
  assert.match(chooseBinary("~/podlens", "/ext").path, /^\/.+\/podlens$/);
  assert.throws(() => chooseBinary("bin/podlens", "/ext"), BinaryError);
});

test("a server that cannot run is reported with the reason", async () => {
  const failure = async (path: string): Promise<BinaryError> => {
    const error: unknown = await checkBinary({ path, configured: true }).then(() => undefined, (it: unknown) => it);
    assert(error instanceof BinaryError);
    return error;
  };
  assert.match((await failure("/nowhere/podlens")).message, /\/nowhere\/podlens does not exist/);
  assert.match((await failure("/")).message, /not a file/);
  const directory = mkdtempSync(join(tmpdir(), "podlens-"));
  const plain = join(directory, "podlens");
  writeFileSync(plain, "", { mode: 0o644 });
  assert.match((await failure(plain)).message, /is not executable/);
  rmSync(directory, { recursive: true });
  assert.match((await failure(process.execPath)).message, /is not podlens: --version prints 'v/);
  assert.match((await failure("/nowhere/podlens")).remedy, /podlens\.server\.path/);
});
