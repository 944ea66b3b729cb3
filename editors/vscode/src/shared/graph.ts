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

export interface Graph {
  nodes: Node[];
  edges: { from: string; to: string }[];
  columns: number;
  rows: number;
}

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
  const edges: Graph["edges"] = [];
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
  const nodes: Node[] = [];
  let rows = 0;
  const columns = Math.max(0, ...[...column.values()].map((at) => at + 1));
  for (let at = 0; at < columns; at += 1) {
    const here = [...connected].filter((name) => column.get(name) === at).sort(compare);
    here.forEach((name, row) => nodes.push({ name, kind: uses.has(name) ? "use" : "variable", column: at, row }));
    rows = Math.max(rows, here.length);
  }
  return { nodes, edges, columns, rows };
}

/** The longest way from a node that nothing feeds. */
function columnsOf(names: readonly string[], edges: Graph["edges"]): Map<string, number> {
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
