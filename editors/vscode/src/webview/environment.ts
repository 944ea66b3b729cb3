/**
 * The environment page: one container, every variable with its value, its source and what it hides.
 *
 * It is drawn anew for each message; what the reader has set (the query, the reveal, open sections, focus) stays.
 */

import type { Container, EnvironmentMessage, Expanded, ShowEnvironment, Source, Variable, Workload } from "../shared/protocol";
import * as model from "../shared/environment";
import { drawGraph } from "./graph";
import { h, settled } from "./dom";
import { host } from "./host";

let workload: Workload | null = null;
let container: Container | null = null;
let revealed = false;
let query = "";
const open = new Map<string, boolean>([["graph", true]]);
/** Long texts that are shown whole, by variable or place. */
const whole = new Set<string>();

const search = h("input", {
  type: "search",
  id: "search",
  placeholder: "Search name, value, source",
  "aria-label": "Search variables",
  spellcheck: "false",
  input: () => {
    query = search.value;
    draw();
  },
});
const copy = h("button", { type: "button", id: "copy", click: copyDotenv }, "Copy as dotenv");
const reveal = h("button", { type: "button", id: "reveal", click: toggleReveal }, "Reveal secrets");
const uncopied = settled(2000, () => {
  copy.textContent = "Copy as dotenv";
});
const count = h("p", { id: "count", role: "status" });
const heading = h("header");
const bar = h("div", { class: "bar", role: "toolbar", "aria-label": "Environment" }, search, copy, reveal);
const content = h("div", { id: "content" });

document.body.append(h("main", {}, heading, bar, count, content));
window.addEventListener("message", (event: MessageEvent<ShowEnvironment>) => {
  if (event.data.type === "environment") {
    const next = event.data.environment?.workloads[0] ?? null;
    // A secret shown for one container must not show up in another.
    if (next?.name !== workload?.name || next?.containers[0]?.name !== container?.name) {
      revealed = false;
      whole.clear();
    }
    workload = next;
    container = next?.containers[0] ?? null;
    draw();
  }
});
window.addEventListener("keydown", (event) => {
  // As in most lists: a slash goes to the search, Escape empties it.
  if (event.key === "/" && document.activeElement !== search) {
    event.preventDefault();
    search.focus();
  } else if (event.key === "Escape" && document.activeElement === search && search.value !== "") {
    search.value = query = "";
    draw();
  }
});
draw();
send({ type: "ready" });

function send(message: EnvironmentMessage): void {
  host.postMessage(message);
}

function draw(): void {
  const focused = document.activeElement?.id ?? "";
  const nothing = container === null || container.env.length === 0;
  bar.hidden = nothing;
  count.hidden = nothing;
  if (workload === null || container === null) {
    heading.replaceChildren(h("h1", {}, "Environment"));
    content.replaceChildren(h("p", { class: "empty" }, "Put the cursor in a container of a manifest."));
    return;
  }
  heading.replaceChildren(...header(workload, container));
  const canReveal = model.hasSecretValues(container);
  reveal.disabled = !canReveal;
  reveal.setAttribute("aria-pressed", String(revealed));
  reveal.textContent = revealed ? "Hide secrets" : "Reveal secrets";
  reveal.title = canReveal ? "" : "Values of secrets are not read unless the settings say secrets.show: true";
  const found = model.ordered(container.env).filter((variable) => model.matches(variable, query, revealed));
  const services = found.filter(model.isServiceVariable);
  const others = found.filter((variable) => !model.isServiceVariable(variable));
  count.textContent = model.countOf(container.env, found.length, query !== "");
  content.replaceChildren(
    ...[
      unresolved(container),
      presets(workload),
      others.length > 0 ? section("Variables", table("Variables", others)) : null,
      services.length > 0
        ? details("services", `Variables of services (${services.length})`, table("Variables of services", services))
        : null,
      found.length > 0 ? null : h("p", { class: "empty" }, query === "" ? "This container has no variables." : "Nothing matches."),
      runs(container),
      graph(container),
    ].filter((part) => part !== null),
  );
  if (focused !== "") {
    document.getElementById(focused)?.focus();
  }
}

function header(of: Workload, in_: Container): HTMLElement[] {
  const title = `${of.kind ?? "?"}/${of.name ?? "?"}`;
  const role = in_.role === "container" ? "container" : `${in_.role} container`;
  return [
    h("h1", {}, title, " ", h("span", { class: "container" }, `${role} ${in_.name ?? "?"}`)),
    h("p", { class: "place" }, of.namespace === null ? null : `namespace ${of.namespace} · `, link(of.file, of.line)),
  ];
}

function section(title: string, ...children: HTMLElement[]): HTMLElement {
  return h("section", {}, h("h2", {}, title), ...children);
}

function details(name: string, title: string, ...children: Element[]): HTMLElement {
  const element = h("details", { id: `section-${name}` }, h("summary", { id: `summary-${name}` }, title), ...children);
  // What matches a query should be seen, not searched for again.
  element.open = open.get(name) ?? query !== "";
  element.addEventListener("toggle", () => {
    if (query === "") {
      open.set(name, element.open);
    }
  });
  return element;
}

const WHY: Record<string, string> = {
  undefined: "nothing defines it",
  forward: "it is declared only later",
  self: "it refers to itself",
};

function unresolved(in_: Container): HTMLElement | null {
  if (in_.unresolved.length === 0) {
    return null;
  }
  const items = in_.unresolved.map((one) =>
    h(
      "li",
      {},
      h("code", {}, `$(${one.name})`),
      ` is not expanded: ${WHY[one.why] ?? one.why} `,
      link(one.file, one.line, one.column),
    ),
  );
  const title = `Unresolved (${items.length})`;
  return h("section", { class: "unresolved" }, h("h2", {}, title), h("ul", {}, ...items));
}

function presets(of: Workload): HTMLElement | null {
  if (of.presets.length === 0) {
    return null;
  }
  const items = of.presets.map((preset) => {
    const conflicts = preset.conflicts.map((conflict) =>
      h("li", {}, `${conflict.kind} ${conflict.name} conflicts with `, link(conflict.with.file, conflict.with.line)),
    );
    return h(
      "li",
      {},
      h("strong", {}, preset.name),
      preset.applied ? " takes part " : " is not applied ",
      link(preset.file, preset.line),
      conflicts.length > 0 ? h("ul", {}, ...conflicts) : null,
    );
  });
  return section("Presets", h("ul", {}, ...items));
}

function table(label: string, variables: readonly Variable[]): HTMLElement {
  // Roles are said, since in a narrow column the table is not laid out as one.
  const head = ["Name", "Value", "Source"].map((title) => h("th", { scope: "col", role: "columnheader" }, title));
  return h(
    "table",
    { "aria-label": label, role: "table" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...head)),
    h("tbody", { role: "rowgroup" }, ...variables.map(row)),
  );
}

function row(variable: Variable): HTMLElement {
  const shown = model.shownValue(variable, revealed);
  const value = variable.state === "secret" || variable.value === null ? [shown] : withHoles(shown, variable.state);
  const badge = variable.state === "known" ? null : h("span", { class: `badge ${variable.state}` }, variable.state);
  const raw = variable.raw !== null && variable.raw !== variable.value && variable.raw.includes("$");
  return h(
    "tr",
    { id: rowId(variable.name), tabindex: "-1", class: variable.state, role: "row" },
    h("th", { scope: "row", role: "rowheader" }, h("code", {}, variable.name)),
    h(
      "td",
      { role: "cell" },
      variable.value === "" ? h("span", { class: "note" }, "empty") : longText(variable.name, value),
      badge,
      raw ? h("div", { class: "note" }, "from ", h("code", {}, variable.raw ?? "")) : null,
      alternatives(variable),
    ),
    h("td", { role: "cell" }, sourceOf(variable.source), ...variable.hides.map(hidden)),
  );
}

/** A text; of a long one the beginning, and a button for the rest. */
function longText(id: string, pieces: (HTMLElement | string)[]): DocumentFragment {
  const parts = document.createDocumentFragment();
  // What is shown, and not what is masked: its length is nobody's business.
  const text = pieces.map((piece) => (typeof piece === "string" ? piece : (piece.textContent ?? ""))).join("");
  const long = model.isLong(text);
  const shut = long && !whole.has(id);
  parts.append(h("code", { class: shut ? "value shut" : "value" }, ...pieces));
  if (long) {
    const toggle = (): void => {
      if (!whole.delete(id)) {
        whole.add(id);
      }
      draw();
    };
    const attributes = { type: "button", class: "more", id: `more-${id}`, "aria-expanded": String(!shut), click: toggle };
    parts.append(h("button", attributes, shut ? `Show all ${model.lengthOf(text)}` : "Show less"));
  }
  return parts;
}

function rowId(name: string): string {
  return `variable-${name}`;
}

/** What only the cluster knows stands in angle brackets, and looks it. */
function withHoles(text: string, state: string): (HTMLElement | string)[] {
  if (state === "known") {
    return [text];
  }
  return text
    .split(/(<[^<>]*>)/)
    .filter((piece) => piece !== "")
    .map((piece) => (piece.startsWith("<") ? h("span", { class: "hole" }, piece) : piece));
}

function alternatives(variable: Variable): HTMLElement | null {
  const all = variable.alternatives ?? [];
  if (all.length === 0) {
    return null;
  }
  const items = all.map((one) => {
    const value = variable.state === "secret" && !revealed ? model.MASK : (one.value ?? "unknown");
    return h("li", {}, h("code", {}, value), " ", sourceOf(one.source));
  });
  return h("ul", { class: "alternatives" }, ...items);
}

function sourceOf(source: Source): HTMLElement {
  const words = model.describe(source);
  return h("span", { class: "source" }, words, " ", source.file === null ? null : link(source.file, source.line ?? 1));
}

function hidden(source: Source): HTMLElement {
  return h("div", { class: "note" }, "hides ", sourceOf(source));
}

function link(file: string, line: number, column?: number): HTMLElement {
  const click = (event: Event): void => {
    event.preventDefault();
    send(column === undefined ? { type: "open", file, line } : { type: "open", file, line, column });
  };
  return h("a", { href: "#", title: `${file}:${line}`, click }, model.place({ file, line }));
}

function runs(in_: Container): HTMLElement | null {
  const rows: [string, readonly Expanded[]][] = [
    ["command", in_.command],
    ["args", in_.args],
    ...in_.probes.map((probe): [string, readonly Expanded[]] => [probe.probe, probe.command]),
    ...in_.subPaths.map((path): [string, readonly Expanded[]] => [`mount ${path.mountPath ?? "?"}`, [path]]),
  ];
  const shown = rows.filter(([, texts]) => texts.length > 0);
  if (shown.length === 0) {
    return null;
  }
  const entries = shown.flatMap(([title, texts]) => [
    h("dt", {}, title),
    h("dd", {}, ...texts.flatMap((text, at) => [longText(`${title} ${at}`.replaceAll(" ", "-"), expanded(text)), " "])),
  ]);
  return section("What runs", h("dl", {}, ...entries));
}

function expanded(text: Expanded): (HTMLElement | string)[] {
  if (text.state === "secret" && !revealed) {
    return [model.MASK];
  }
  return text.value === null ? [text.raw ?? "unknown"] : withHoles(text.value, text.state);
}

function graph(in_: Container): HTMLElement | null {
  const drawing = drawGraph(in_, (name) => {
    const target = document.getElementById(rowId(name));
    const closed = target?.closest("details");
    if (closed) {
      closed.open = true;
    }
    target?.scrollIntoView({ block: "center" });
    target?.focus();
  });
  return drawing === null ? null : details("graph", "What feeds what", drawing);
}

function copyDotenv(): void {
  if (container !== null) {
    send({ type: "copy", ...model.dotenv(container, revealed) });
    copy.textContent = "Copied";
    uncopied();
  }
}

function toggleReveal(): void {
  revealed = !revealed;
  draw();
}
