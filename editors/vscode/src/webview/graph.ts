/** The small graph of which variable feeds which, as an SVG whose nodes can be reached with the keyboard. */

import type { Container } from "../shared/protocol";
import { type Node, graphOf } from "../shared/graph";
import { h, svg } from "./dom";

const ROW = 30;
const HEIGHT = 22;
const GAP = 56;
const ARROW = 6;
/** About the width of a letter of the 12 px editor font; boxes have room to spare. */
const LETTER = 7.4;

/** Nothing if no variable feeds anything. */
export function drawGraph(container: Container, choose: (name: string) => void): HTMLElement | null {
  const graph = graphOf(container);
  if (graph.edges.length === 0) {
    return null;
  }
  const { boxes, columns } = place(graph.nodes, graph.columns);
  const right = Math.max(...columns.map((column) => column.x + column.width));
  const width = right + 2;
  const height = graph.rows * ROW + 2;
  const edges = graph.edges.flatMap(({ from, to, through }) => {
    const [a, b] = [boxes.get(from), boxes.get(to)];
    if (a === undefined || b === undefined) {
      return [];
    }
    const end = { x: b.x - ARROW, y: b.y + HEIGHT / 2 };
    let at = { x: a.x + a.width, y: a.y + HEIGHT / 2 };
    let path = `M ${at.x} ${at.y}`;
    const bendTo = (x: number, y: number): void => {
      const bend = (at.x + x) / 2;
      path += ` C ${bend} ${at.y} ${bend} ${y} ${x} ${y}`;
      at = { x, y };
    };
    for (const { column, row } of through) {
      const { x, width: wide } = columns[column] ?? { x: 0, width: 0 };
      bendTo(x, row * ROW + 1 + HEIGHT / 2);
      at.x = x + wide;
      path += ` L ${at.x} ${at.y}`;
    }
    bendTo(end.x, end.y);
    return [
      svg("path", { d: path, class: "edge", "data-edge": `${from} → ${to}` }),
      svg("path", { d: `M ${end.x} ${end.y - 3.5} L ${b.x} ${end.y} L ${end.x} ${end.y + 3.5} Z`, class: "arrow" }),
    ];
  });
  const nodes = graph.nodes.map((node) => {
    const box = boxes.get(node.name);
    return box === undefined ? null : drawNode(node, box, neighbours(graph.edges, node.name), choose);
  });
  const picture = svg(
    "svg",
    {
      width: String(width),
      height: String(height),
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": "Which variable feeds which",
    },
    ...edges,
    ...nodes,
  );
  return h("div", { class: "graph" }, picture);
}

interface Box {
  x: number;
  y: number;
  width: number;
}

/** Each column is as wide as its longest name. */
function place(nodes: readonly Node[], count: number): { boxes: Map<string, Box>; columns: { x: number; width: number }[] } {
  const boxes = new Map<string, Box>();
  const columns: { x: number; width: number }[] = [];
  let x = 1;
  for (let column = 0; column < count; column += 1) {
    const here = nodes.filter((node) => node.column === column);
    const width = Math.ceil(Math.max(...here.map((node) => node.name.length)) * LETTER + 16);
    here.forEach((node) => boxes.set(node.name, { x, y: node.row * ROW + 1, width }));
    columns.push({ x, width });
    x += width + GAP;
  }
  return { boxes, columns };
}

function neighbours(edges: readonly { from: string; to: string }[], name: string): string {
  const fed = edges.filter((edge) => edge.to === name).map((edge) => edge.from);
  const feeds = edges.filter((edge) => edge.from === name).map((edge) => edge.to);
  const parts = [
    fed.length > 0 ? `fed by ${fed.join(", ")}` : null,
    feeds.length > 0 ? `feeds ${feeds.join(", ")}` : null,
  ];
  return parts.filter((part) => part !== null).join("; ");
}

function drawNode(node: Node, box: Box, about: string, choose: (name: string) => void): SVGElement {
  const shape = svg("rect", {
    x: String(box.x),
    y: String(box.y),
    width: String(box.width),
    height: String(HEIGHT),
    rx: node.kind === "use" ? "11" : "3",
  });
  const text = svg("text", { x: String(box.x + 8), y: String(box.y + 15) }, node.name);
  if (node.kind === "use") {
    return svg("g", { class: "node use", role: "img", "aria-label": `${node.name}: ${about}` }, shape, text);
  }
  const activate = (event: Event): void => {
    if (!(event instanceof KeyboardEvent) || event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(node.name);
    }
  };
  const attributes = {
    class: "node",
    role: "button",
    tabindex: "0",
    id: `node-${node.name}`,
    "aria-label": `${node.name}: ${about}`,
    click: activate,
    keydown: activate,
  };
  return svg("g", attributes, shape, text);
}
