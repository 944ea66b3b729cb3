/** The small graph of which variable feeds which, as an SVG whose nodes can be reached with the keyboard. */

import type { Container } from "../shared/protocol";
import { type Node, graphOf } from "../shared/graph";
import { h, svg } from "./dom";

const ROW = 30;
const HEIGHT = 22;
const GAP = 56;
/** About the width of a letter of the 12 px editor font; boxes have room to spare. */
const LETTER = 7.4;

/** Nothing if no variable feeds anything. */
export function drawGraph(container: Container, choose: (name: string) => void): HTMLElement | null {
  const graph = graphOf(container);
  if (graph.edges.length === 0) {
    return null;
  }
  const boxes = place(graph.nodes, graph.columns);
  const right = Math.max(...[...boxes.values()].map((box) => box.x + box.width));
  const width = right + 2;
  const height = graph.rows * ROW + 2;
  const edges = graph.edges.map(({ from, to }) => {
    const [a, b] = [boxes.get(from), boxes.get(to)];
    if (a === undefined || b === undefined) {
      return null;
    }
    const [x1, y1, x2, y2] = [a.x + a.width, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
    const bend = (x1 + x2) / 2;
    const path = `M ${x1} ${y1} C ${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`;
    return svg("path", { d: path, class: "edge", "data-edge": `${from} → ${to}` });
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
function place(nodes: readonly Node[], columns: number): Map<string, Box> {
  const boxes = new Map<string, Box>();
  let x = 1;
  for (let column = 0; column < columns; column += 1) {
    const here = nodes.filter((node) => node.column === column);
    const width = Math.ceil(Math.max(...here.map((node) => node.name.length)) * LETTER + 16);
    here.forEach((node) => boxes.set(node.name, { x, y: node.row * ROW + 1, width }));
    x += width + GAP;
  }
  return boxes;
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
