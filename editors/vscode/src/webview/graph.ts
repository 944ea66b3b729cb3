/** Renders the graph of references between variables as an SVG with focusable nodes. */

import type { Container } from "../shared/protocol";
import { type Node, graphOf } from "../shared/graph";
import { h, svg } from "./dom";

const ROW_HEIGHT = 30;
const NODE_HEIGHT = 22;
const COLUMN_GAP = 56;
const ARROW_LENGTH = 6;
/** The approximate width of a character in the 12 px editor font, rounded up. */
const CHARACTER_WIDTH = 7.4;

/** Returns null if there are no references. `onSelect` is called with the name of an activated node. */
export function renderGraph(container: Container, onSelect: (name: string) => void): HTMLElement | null {
  const graph = graphOf(container);
  if (graph.edges.length === 0) {
    return null;
  }
  const { boxes, columns } = layOut(graph.nodes, graph.columns);
  const right = Math.max(...columns.map((column) => column.x + column.width));
  const width = right + 2;
  const height = graph.rows * ROW_HEIGHT + 2;
  const edges = graph.edges.flatMap(({ from, to, through }) => {
    const [a, b] = [boxes.get(from), boxes.get(to)];
    if (a === undefined || b === undefined) {
      return [];
    }
    const end = { x: b.x - ARROW_LENGTH, y: b.y + NODE_HEIGHT / 2 };
    let at = { x: a.x + a.width, y: a.y + NODE_HEIGHT / 2 };
    let path = `M ${at.x} ${at.y}`;
    const bendTo = (x: number, y: number): void => {
      const bend = (at.x + x) / 2;
      path += ` C ${bend} ${at.y} ${bend} ${y} ${x} ${y}`;
      at = { x, y };
    };
    for (const { column, row } of through) {
      const { x, width: columnWidth } = columns[column] ?? { x: 0, width: 0 };
      bendTo(x, row * ROW_HEIGHT + 1 + NODE_HEIGHT / 2);
      at.x = x + columnWidth;
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
    return box === undefined ? null : renderNode(node, box, describeEdges(graph.edges, node.name), onSelect);
  });
  const picture = svg(
    "svg",
    {
      width: String(width),
      height: String(height),
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": "References between variables",
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

/** Computes the boxes; each column is as wide as its longest name. */
function layOut(nodes: readonly Node[], count: number): { boxes: Map<string, Box>; columns: { x: number; width: number }[] } {
  const boxes = new Map<string, Box>();
  const columns: { x: number; width: number }[] = [];
  let x = 1;
  for (let column = 0; column < count; column += 1) {
    const inColumn = nodes.filter((node) => node.column === column);
    const width = Math.ceil(Math.max(...inColumn.map((node) => node.name.length)) * CHARACTER_WIDTH + 16);
    inColumn.forEach((node) => boxes.set(node.name, { x, y: node.row * ROW_HEIGHT + 1, width }));
    columns.push({ x, width });
    x += width + COLUMN_GAP;
  }
  return { boxes, columns };
}

function describeEdges(edges: readonly { from: string; to: string }[], name: string): string {
  const sources = edges.filter((edge) => edge.to === name).map((edge) => edge.from);
  const targets = edges.filter((edge) => edge.from === name).map((edge) => edge.to);
  const parts = [
    sources.length > 0 ? `refers to ${sources.join(", ")}` : null,
    targets.length > 0 ? `used by ${targets.join(", ")}` : null,
  ];
  return parts.filter((part) => part !== null).join("; ");
}

function renderNode(node: Node, box: Box, description: string, onSelect: (name: string) => void): SVGElement {
  const shape = svg("rect", {
    x: String(box.x),
    y: String(box.y),
    width: String(box.width),
    height: String(NODE_HEIGHT),
    rx: node.kind === "use" ? "11" : "3",
  });
  const text = svg("text", { x: String(box.x + 8), y: String(box.y + 15) }, node.name);
  if (node.kind === "use") {
    return svg("g", { class: "node use", role: "img", "aria-label": `${node.name}: ${description}` }, shape, text);
  }
  const activate = (event: Event): void => {
    if (!(event instanceof KeyboardEvent) || event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      onSelect(node.name);
    }
  };
  const attributes = {
    class: "node",
    role: "button",
    tabindex: "0",
    id: `node-${node.name}`,
    "aria-label": `${node.name}: ${description}`,
    click: activate,
    keydown: activate,
  };
  return svg("g", attributes, shape, text);
}
