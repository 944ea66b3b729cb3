/**
 * The graph of references between variables: the edges, and a layout of the nodes in columns from left to right.
 *
 * Variables without an edge are not part of the graph. A reference of a variable to an earlier variable of the same name
 * would be a loop, so it is left out. A real container has no other loops; on input that has, the layout still terminates.
 */

import type { Container, Expanded } from "./protocol";
import { compare } from "./environment";

export interface Node {
  name: string;
  /** A variable, or a field that refers to variables: command, args, a probe, a mount. */
  kind: "variable" | "use";
  column: number;
  row: number;
}

export interface Edge {
  from: string;
  to: string;
  /** Free cells in the columns between the two nodes, so that the edge does not cross other nodes. */
  through: { column: number; row: number }[];
}

export interface Graph {
  nodes: Node[];
  edges: Edge[];
  columns: number;
  rows: number;
}

type Pair = Pick<Edge, "from" | "to">;

/** The names in `$(NAME)` references; escaped references are skipped. */
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
  const through = (edge: Pair): Edge["through"] => cellsBetween(edge, column).flatMap((key) => placed.get(key) ?? []);
  return { nodes, edges: edges.map((edge) => ({ ...edge, through: through(edge) })), columns, rows };
}

/**
 * Removes the edges of references that are not expanded because the name is declared later. The reference belongs to
 * the nearest entry at or above its line.
 */
function dropUnresolved({ env, unresolved }: Container, edges: Pair[]): void {
  for (const { name, file, line } of unresolved) {
    const candidates = env.filter(({ source }) => source.file === file && source.line !== null && source.line <= line);
    const owner = Math.max(...candidates.map(({ source }) => source.line ?? 0));
    for (const { name: to } of candidates.filter(({ source }) => source.line === owner)) {
      const at = edges.findIndex((edge) => edge.from === name && edge.to === to);
      if (at >= 0) {
        edges.splice(at, 1);
      }
    }
  }
}

/** Keys for the cells that an edge occupies in the columns between its ends. */
function cellsBetween({ from, to }: Pair, column: ReadonlyMap<string, number>): string[] {
  const [first, last] = [(column.get(from) ?? 0) + 1, column.get(to) ?? 0];
  return Array.from({ length: Math.max(0, last - first) }, (_, at) => `${from}\n${to}\n${first + at}`);
}

/** Assigns rows so that connected nodes are close: each node moves towards the average row of its neighbours. */
function rowsOf(column: ReadonlyMap<string, number>, edges: readonly Pair[]): { rows: number; placed: Map<string, { column: number; row: number }> } {
  const before = new Map<string, string[]>();
  const after = new Map<string, string[]>();
  const layers: string[][] = [];
  const add = (name: string, at: number): void => void (layers[at] ??= []).push(name);
  [...column.keys()].sort(compare).forEach((name) => add(name, column.get(name) ?? 0));
  for (const edge of edges) {
    const path = [edge.from, ...cellsBetween(edge, column), edge.to];
    path.slice(1, -1).forEach((name, at) => add(name, (column.get(edge.from) ?? 0) + 1 + at));
    path.slice(1).forEach((name, at) => {
      const previous = path[at] ?? "";
      before.set(name, [...(before.get(name) ?? []), previous]);
      after.set(previous, [...(after.get(previous) ?? []), name]);
    });
  }
  const placed = new Map<string, { column: number; row: number }>();
  const assignRows = (layer: readonly string[], at: number): void => layer.forEach((name, row) => placed.set(name, { column: at, row }));
  const averageRow = (name: string, neighbours: Map<string, string[]>): number => {
    const rows = (neighbours.get(name) ?? []).map((other) => placed.get(other)?.row ?? 0);
    return rows.length === 0 ? (placed.get(name)?.row ?? 0) : rows.reduce((sum, row) => sum + row, 0) / rows.length;
  };
  layers.forEach(assignRows);
  for (const neighbours of [before, after, before]) {
    const order = [...layers.keys()];
    for (const at of neighbours === after ? order.reverse() : order) {
      const layer = layers[at] ?? [];
      const target = new Map(layer.map((name) => [name, averageRow(name, neighbours)]));
      layer.sort((a, b) => (target.get(a) ?? 0) - (target.get(b) ?? 0) || compare(a, b));
      assignRows(layer, at);
    }
  }
  return { rows: Math.max(0, ...layers.map((layer) => layer.length)), placed };
}

/** The column of each node: the length of the longest path from a node without incoming edges. */
function columnsOf(names: readonly string[], edges: readonly Pair[]): Map<string, number> {
  const column = new Map(names.map((name) => [name, 0]));
  // A path has at most as many steps as there are nodes; this bound also stops on loops.
  for (let round = 0; round < names.length; round += 1) {
    let changed = false;
    for (const { from, to } of edges) {
      const minimum = (column.get(from) ?? 0) + 1;
      if (minimum < names.length && (column.get(to) ?? 0) < minimum) {
        column.set(to, minimum);
        changed = true;
      }
    }
    if (!changed) {
      break;
    }
  }
  return column;
}
