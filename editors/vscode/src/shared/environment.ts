/**
 * What the environment page shows of a container: order, search, masks, dotenv. No DOM and no VS Code in here.
 */

import type { Container, Source, Variable } from "./protocol";

/** Secrets look like this, whatever their length. */
export const MASK = "••••••••";

/** Unknown ones first, since they are what a reader looks for; the rest by name. */
export function ordered(variables: readonly Variable[]): Variable[] {
  const rank = (variable: Variable): number => (variable.state === "unknown" ? 0 : 1);
  return [...variables].sort((a, b) => rank(a) - rank(b) || compare(a.name, b.name));
}

/** Variables of services are many and rarely looked for: they have a section of their own. */
export function isServiceVariable(variable: Variable): boolean {
  return variable.source.kind === "service";
}

/** Whether a variable has all words of a query in its name, its source, or its value unless that is masked. */
export function matches(variable: Variable, query: string, revealed: boolean): boolean {
  const raw = variable.state === "secret" ? "" : (variable.raw ?? "");
  const text = [variable.name, shownValue(variable, revealed), raw, describe(variable.source)].join("\n").toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** A value for a person. */
export function shownValue(variable: Variable, revealed: boolean): string {
  if (variable.state === "secret") {
    return revealed && variable.value !== null ? variable.value : MASK;
  }
  if (variable.value !== null) {
    return variable.value;
  }
  return (variable.alternatives ?? []).length > 0 ? "one of several" : "unknown";
}

/** How many there are, those of services apart, as the line above a container has it, which leaves out the cluster's own. */
export function countOf(all: readonly Variable[], found: number, searched: boolean): string {
  if (searched) {
    return `${found} of ${all.length} variables`;
  }
  const services = all.filter(isServiceVariable);
  const own = all.length - services.length;
  // No file declares the service of the cluster itself.
  const cluster = services.filter((it) => it.source.file === null).length;
  const parts = [`${own} ${own === 1 ? "variable" : "variables"}`];
  if (services.length > cluster) {
    parts.push(`${services.length - cluster} from services`);
  }
  if (cluster > 0) {
    parts.push(`${cluster} from the cluster`);
  }
  return parts.join(", ");
}

/** Values beyond this many lines or characters are shown in part: certificates, whole configuration files. */
const LINES = 6;
const CHARACTERS = 320;

export function isLong(text: string): boolean {
  return text.length > CHARACTERS || linesOf(text) > LINES;
}

/** The length of a long value in words. */
export function lengthOf(text: string): string {
  const lines = linesOf(text);
  return lines > LINES ? `${lines} lines` : `${text.length} characters`;
}

function linesOf(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}

/** Whether the server sent any secret that could be revealed. */
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

/** A source in words: `config map app/PORT`. */
export function describe(source: Source): string {
  const kind = KINDS[source.kind] ?? source.kind;
  const name = [source.object, source.key].filter((part) => part !== null).join("/");
  return name === "" ? kind : `${kind} ${name}`;
}

/** A source's place: `web.yaml:12`, without directories. */
export function place(source: { file: string | null; line: number | null }): string {
  if (source.file === null) {
    return "";
  }
  const name = source.file.split(/[\\/]/).pop() ?? source.file;
  return source.line === null ? name : `${name}:${source.line}`;
}

/**
 * `NAME='value'` lines that a shell reads back. What is not known, or masked, or no name for a shell, is a comment, as
 * in `podlens env --format dotenv`.
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
      lines.push(`# ${oneLine(variable.name)}: ${oneLine(shownValue(variable, revealed))}`);
    }
  }
  return { text: lines.map((line) => `${line}\n`).join(""), count };
}

/** A text on one line, so that it stays inside its comment. */
function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]/g, " ");
}

/** By code units, as the server sorts: the same everywhere, whatever the locale. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
