/**
 * The logic of the environment page: order, search, masking, dotenv. Does not use the DOM or the VS Code API.
 */

import type { Container, Failure, Opaque, Source, Unresolved, Variable } from "./protocol";

/** Shown instead of the value of a secret; its length does not depend on the value. */
export const MASK = "••••••••";

/** Sorts unknown variables first, then by name. */
export function sortVariables(variables: readonly Variable[]): Variable[] {
  const rank = (variable: Variable): number => (variable.state === "unknown" ? 0 : 1);
  return [...variables].sort((a, b) => rank(a) - rank(b) || compare(a.name, b.name));
}

/** Whether a variable comes from a service. There are many of them, so they are in a separate section. */
export function isServiceVariable(variable: Variable): boolean {
  return variable.source.kind === "service";
}

/** Whether all words of a query occur in the name, the source or the value of a variable; masked values are not searched. */
export function matchesQuery(variable: Variable, query: string, revealed: boolean): boolean {
  const raw = variable.state === "secret" ? "" : (variable.raw ?? "");
  const text = [variable.name, displayValue(variable, revealed), raw, describeSource(variable.source)].join("\n").toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The value as the page shows it. */
export function displayValue(variable: Variable, revealed: boolean): string {
  if (variable.state === "secret") {
    return revealed && variable.value !== null ? variable.value : MASK;
  }
  if (variable.value !== null) {
    return variable.value;
  }
  return (variable.alternatives ?? []).length > 0 ? "one of several" : "unknown";
}

/**
 * The number of variables: those from services and from the cluster separately, or how many match the search.
 *
 * The code lens above a container shows the same numbers without those from the cluster.
 */
export function countText(all: readonly Variable[], found: number, isSearch: boolean): string {
  if (isSearch) {
    return `${found} of ${all.length} variables`;
  }
  const services = all.filter(isServiceVariable);
  const others = all.length - services.length;
  // The API server's own service is not declared in a file.
  const cluster = services.filter((it) => it.source.file === null).length;
  const parts = [`${others} ${others === 1 ? "variable" : "variables"}`];
  if (services.length > cluster) {
    parts.push(`${services.length - cluster} from services`);
  }
  if (cluster > 0) {
    parts.push(`${cluster} from the cluster`);
  }
  return parts.join(", ");
}

/** Longer values, such as certificates and configuration files, are collapsed. */
const MAX_LINES = 6;
const MAX_CHARACTERS = 320;

export function isLong(text: string): boolean {
  return text.length > MAX_CHARACTERS || lineCount(text) > MAX_LINES;
}

/** The length of a long value, such as `40 lines`. */
export function lengthText(text: string): string {
  const lines = lineCount(text);
  return lines > MAX_LINES ? `${lines} lines` : `${text.length} characters`;
}

function lineCount(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}

/** Whether the server has sent the value of a secret. */
export function hasSecretValues(container: Container): boolean {
  return container.env.some((variable) => variable.state === "secret" && variable.value !== null);
}

const KINDS: Record<string, string> = {
  configMap: "config map",
  envFile: "env file",
  field: "field",
  injected: "injected by the controller",
  preset: "preset",
  resource: "resource",
  secret: "secret",
  service: "service",
};

/** A source as text: `config map app/PORT`. */
export function describeSource(source: Source): string {
  const kind = KINDS[source.kind] ?? source.kind;
  const name = [source.object, source.key].filter((part) => part !== null).join("/");
  return name === "" ? kind : `${kind} ${name}`;
}

const REASONS: Record<string, string> = {
  undefined: "nothing defines it",
  forward: "it is declared later",
  self: "it refers to itself",
  probe: "exec probes do not see it",
  linksOff: "it is a service variable, and service links are off",
};

/** Why a reference is not expanded. */
export function unresolvedText(unresolved: Unresolved): string {
  return REASONS[unresolved.why] ?? unresolved.why;
}

const FAILURES: Record<string, string> = {
  missingKey: "its key does not exist",
  missingFile: "nothing writes its env file before the container starts",
  unreadableFile: "its env file cannot be read",
  missingContainer: "the pod does not have the container of its resource",
  refusedSource: "the API server refuses its source",
  emptySubPath: "a sub path needs its value, and it has none",
};

/** Why a variable keeps the container from starting. */
export function failureText(failure: Failure): string {
  return FAILURES[failure.why] ?? failure.why;
}

/** The references that are not expanded, without those that are shown as failures. */
export function unresolvedOnly(container: Container): Unresolved[] {
  const isFailure = (one: Unresolved): boolean =>
    container.failures.some(({ name, why, file, line }) => why === "emptySubPath" && name === one.name && file === one.file && line === one.line);
  return container.unresolved.filter((one) => !isFailure(one));
}

/** A source with unknown variables as text: `config map app may add variables APP_*: not in these files`. */
export function opaqueText(opaque: Opaque): string {
  const prefix = opaque.prefix === "" ? "" : ` ${opaque.prefix}*`;
  return `${KINDS[opaque.kind] ?? opaque.kind} ${opaque.object} may add variables${prefix}: ${opaque.why}`;
}

/** The location of a source without directories: `web.yaml:12`. */
export function locationText(source: { file: string | null; line: number | null }): string {
  if (source.file === null) {
    return "";
  }
  const name = source.file.split(/[\\/]/).pop() ?? source.file;
  return source.line === null ? name : `${name}:${source.line}`;
}

/**
 * Returns `NAME='value'` lines that a shell can read. Variables that are unknown or masked, or whose name is not valid in
 * a shell, are written as comments, as in `podlens env --format dotenv`.
 */
export function dotenv(container: Container, revealed: boolean): { text: string; count: number } {
  const lines: string[] = [];
  let count = 0;
  for (const variable of container.env) {
    const known = variable.state === "known" || (variable.state === "secret" && revealed);
    const value = variable.value;
    if (known && value !== null && /^[A-Za-z_][A-Za-z0-9_]*$/.test(variable.name) && !value.includes("\0")) {
      lines.push(`${variable.name}='${value.replaceAll("'", "'\\''")}'`);
      count += 1;
    } else {
      lines.push(`# ${oneLine(variable.name)}: ${oneLine(displayValue(variable, revealed))}`);
    }
  }
  return { text: lines.map((line) => `${line}\n`).join(""), count };
}

/** Replaces line breaks and control characters, so that the text stays in its comment. */
function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]/g, " ");
}

/** Compares by code units, as the server does, independent of the locale. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
