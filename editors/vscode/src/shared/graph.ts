/**
 * Which variable feeds which: the edges, and places for the nodes in columns from left to right.
 *
 * Only what is connected takes part. A variable may refer to an earlier one of its own name; that edge says nothing to a
 * reader and would be a loop, so it is left out. Loops cannot come from a real container, but none makes this hang.
 */

import type { Container, Expanded } from "./protocol";
import { compare } from "./environment";

export interface Node {
  name: string;
  /** A variable, or a place that variables end in: command, args, a probe, a mount. */
  kind: "variable" | "use";
  column: number;
  row: number;
}

export interface Edge {
  from: string;
  to: string;
  /** Free places in the columns between the two, so that an edge does not run behind a node that it has nothing to do with. */
  through: { column: number; row: number }[];
}

export interface Graph {
  nodes: Node[];
  edges: Edge[];
  columns: number;
  rows: number;
}

type Pair = Pick<Edge, "from" | "to">;

/** The names in `$(NAME)`, without escaped ones. */
export function references(raw: string | null): string[] {
  const found = new Set<string>();
  for (const match of (raw ?? "").matchAll(/\$\$|\$\(([^()$]+)\)/g)) {
    if (match[1] !== undefined) {
      found.add(match[1]);
    }
  }
  return [...found];
}

export function graphOf(container: Container): Graph {
  const names = new Set(container.env.map((variable) => variable.name));
  const edges: Pair[] = [];
  const uses = new Set<string>();
  const connect = (to: string, raw: string | null): void => {
    for (const from of references(raw)) {
      const known = names.has(from) && from !== to;
      if (known && !edges.some((edge) => edge.from === from && edge.to === to)) {
        edges.push({ from, to });
      }
    }
  };
  for (const variable of container.env) {
    connect(variable.name, variable.raw);
  }
  dropUnresolved(container, edges);
  const use = (label: string, texts: readonly Expanded[]): void => {
    uses.add(label);
    texts.forEach((text) => connect(label, text.raw));
  };
  use("command", container.command);
  use("args", container.args);
  container.probes.forEach((probe) => use(probe.probe, probe.command));
  container.subPaths.forEach((subPath) => use(`mount ${subPath.mountPath ?? "?"}`, [subPath]));

  const connected = new Set(edges.flatMap((edge) => [edge.from, edge.to]));
  const column = columnsOf([...connected], edges);
  const { rows, placed } = rowsOf(column, edges);
  const nodes = [...connected].map((name): Node => {
    const { column: at, row } = placed.get(name) ?? { column: 0, row: 0 };
    return { name, kind: uses.has(name) ? "use" : "variable", column: at, row };
  });
  nodes.sort((a, b) => a.column - b.column || a.row - b.row);
  const columns = Math.max(0, ...nodes.map((node) => node.column + 1));
  const through = (edge: Pair): Edge["through"] => between(edge, column).flatMap((key) => placed.get(key) ?? []);
  return { nodes, edges: edges.map((edge) => ({ ...edge, through: through(edge) })), columns, rows };
}

/**
 * Takes away the edges of references that stay as they are: the name is declared, but only later. Such a reference
 * belongs to the entry above it, and what is not known there is not known in any entry before.
 */
function dropUnresolved({ env, unresolved }: Container, edges: Pair[]): void {
  for (const { name, file, line } of unresolved) {
    const above = env.filter(({ source }) => source.file === file && source.line !== null && source.line <= line);
    const owner = Math.max(...above.map(({ source }) => source.line ?? 0));
    for (const { name: to } of above.filter(({ source }) => source.line === owner)) {
      const at = edges.findIndex((edge) => edge.from === name && edge.to === to);
      if (at >= 0) {
        edges.splice(at, 1);
      }
    }
  }
}

/** Names for the places that an edge takes in the columns between its ends. */
function between({ from, to }: Pair, column: ReadonlyMap<string, number>): string[] {
  const [first, last] = [(column.get(from) ?? 0) + 1, column.get(to) ?? 0];
  return Array.from({ length: Math.max(0, last - first) }, (_, at) => `${from}\n${to}\n${first + at}`);
}

/** Rows in which what is connected stands near each other: each goes to the middle of what it is connected with. */
function rowsOf(column: ReadonlyMap<string, number>, edges: readonly Pair[]): { rows: number; placed: Map<string, { column: number; row: number }> } {
  const before = new Map<string, string[]>();
  const after = new Map<string, string[]>();
  const layers: string[][] = [];
  const add = (name: string, at: number): void => void (layers[at] ??= []).push(name);
  [...column.keys()].sort(compare).forEach((name) => add(name, column.get(name) ?? 0));
  for (const edge of edges) {
    const way = [edge.from, ...between(edge, column), edge.to];
    way.slice(1, -1).forEach((name, at) => add(name, (column.get(edge.from) ?? 0) + 1 + at));
    way.slice(1).forEach((name, at) => {
      const previous = way[at] ?? "";
      before.set(name, [...(before.get(name) ?? []), previous]);
      after.set(previous, [...(after.get(previous) ?? []), name]);
    });
  }
  const placed = new Map<string, { column: number; row: number }>();
  const settle = (layer: readonly string[], at: number): void => layer.forEach((name, row) => placed.set(name, { column: at, row }));
  const middle = (name: string, neighbours: Map<string, string[]>): number => {
    const rows = (neighbours.get(name) ?? []).map((other) => placed.get(other)?.row ?? 0);
    return rows.length === 0 ? (placed.get(name)?.row ?? 0) : rows.reduce((sum, row) => sum + row, 0) / rows.length;
  };
  layers.forEach(settle);
  for (const neighbours of [before, after, before]) {
    const order = [...layers.keys()];
    for (const at of neighbours === after ? order.reverse() : order) {
      const layer = layers[at] ?? [];
      const wish = new Map(layer.map((name) => [name, middle(name, neighbours)]));
      layer.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0) || compare(a, b));
      settle(layer, at);
    }
  }
  return { rows: Math.max(0, ...layers.map((layer) => layer.length)), placed };
}

/** The longest way from a node that nothing feeds. */
function columnsOf(names: readonly string[], edges: readonly Pair[]): Map<string, number> {
  const column = new Map(names.map((name) => [name, 0]));
  // A way is never longer than the number of nodes; without loops this ends much sooner.
  for (let round = 0; round < names.length; round += 1) {
    let changed = false;
    for (const { from, to } of edges) {
      const least = (column.get(from) ?? 0) + 1;
      if (least < names.length && (column.get(to) ?? 0) < least) {
        column.set(to, least);
        changed = true;
      }
    }
    if (!changed) {
      break;
    }
  }
  return column;
}
