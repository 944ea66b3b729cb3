/**
 * The environment page: one container, every variable with its value, its source and what it hides.
 *
 * It is rendered again for each message. The search query, revealed secrets, open sections and the focus are kept.
 */

import type { Container, EnvironmentMessage, Expanded, ShowEnvironment, Source, Variable, Workload } from "../shared/protocol";
import * as model from "../shared/environment";
import { renderGraph } from "./graph";
import { debounce, h } from "./dom";
import { host } from "./host";

let workload: Workload | null = null;
let container: Container | null = null;
let revealed = false;
let query = "";
const openSections = new Map<string, boolean>([["graph", true]]);
/** The ids of long texts that are not collapsed. */
const uncollapsed = new Set<string>();

const search = h("input", {
  type: "search",
  id: "search",
  placeholder: "Search name, value, source",
  "aria-label": "Search variables",
  spellcheck: "false",
  input: () => {
    query = search.value;
    render();
  },
});
const copy = h("button", { type: "button", id: "copy", click: copyDotenv }, "Copy as dotenv");
const reveal = h("button", { type: "button", id: "reveal", click: toggleReveal }, "Reveal secrets");
const resetCopyLabel = debounce(2000, () => {
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
    // Secrets that were revealed in one container stay masked in another.
    if (next?.name !== workload?.name || next?.containers[0]?.name !== container?.name) {
      revealed = false;
      uncollapsed.clear();
    }
    workload = next;
    container = next?.containers[0] ?? null;
    render();
  }
});
window.addEventListener("keydown", (event) => {
  // A slash moves the focus to the search, Escape clears it.
  if (event.key === "/" && document.activeElement !== search) {
    event.preventDefault();
    search.focus();
  } else if (event.key === "Escape" && document.activeElement === search && search.value !== "") {
    search.value = query = "";
    render();
  }
});
render();
send({ type: "ready" });

function send(message: EnvironmentMessage): void {
  host.postMessage(message);
}

function render(): void {
  const focused = document.activeElement?.id ?? "";
  const isEmpty = container === null || container.env.length === 0;
  bar.hidden = isEmpty;
  count.hidden = isEmpty;
  if (workload === null || container === null) {
    heading.replaceChildren(h("h1", {}, "Environment"));
    content.replaceChildren(h("p", { class: "empty" }, "Place the cursor inside a container of a manifest."));
    return;
  }
  heading.replaceChildren(...header(workload, container));
  const canReveal = model.hasSecretValues(container);
  reveal.disabled = !canReveal;
  reveal.setAttribute("aria-pressed", String(revealed));
  reveal.textContent = revealed ? "Hide secrets" : "Reveal secrets";
  reveal.title = canReveal ? "" : "To reveal secrets, set podlens.secrets.show to true";
  const found = model.sortVariables(container.env).filter((variable) => model.matchesQuery(variable, query, revealed));
  const services = found.filter(model.isServiceVariable);
  const others = found.filter((variable) => !model.isServiceVariable(variable));
  count.textContent = model.countText(container.env, found.length, query !== "");
  content.replaceChildren(
    ...[
      failures(container),
      unresolved(container),
      presets(workload),
      others.length > 0 ? section("Variables", table("Variables", others)) : null,
      services.length > 0
        ? details("services", `Service variables (${services.length})`, table("Service variables", services))
        : null,
      found.length > 0 ? null : h("p", { class: "empty" }, query === "" ? "This container has no variables." : "No variable matches the search."),
      opaque(container),
      expandedFields(container),
      graph(container),
    ].filter((part) => part !== null),
  );
  if (focused !== "") {
    document.getElementById(focused)?.focus();
  }
}

function header(workload: Workload, container: Container): HTMLElement[] {
  const title = `${workload.kind ?? "?"}/${workload.name ?? "?"}`;
  const role = container.role === "container" ? "container" : `${container.role} container`;
  return [
    h("h1", {}, title, " ", h("span", { class: "container" }, `${role} ${container.name ?? "?"}`)),
    h("p", { class: "location" }, workload.namespace === null ? null : `namespace ${workload.namespace} · `, link(workload.file, workload.line)),
  ];
}

function section(title: string, ...children: HTMLElement[]): HTMLElement {
  return h("section", {}, h("h2", {}, title), ...children);
}

function details(name: string, title: string, ...children: Element[]): HTMLElement {
  const element = h("details", { id: `section-${name}` }, h("summary", { id: `summary-${name}` }, title), ...children);
  // A section with matches is opened during a search.
  element.open = openSections.get(name) ?? query !== "";
  element.addEventListener("toggle", () => {
    if (query === "") {
      openSections.set(name, element.open);
    }
  });
  return element;
}

/** What keeps the container from starting. */
function failures(container: Container): HTMLElement | null {
  if (container.failures.length === 0) {
    return null;
  }
  const items = container.failures.map((one) =>
    h("li", {}, h("code", {}, one.name), `: ${model.failureText(one)} `, link(one.file, one.line)),
  );
  return h("section", { class: "failures" }, h("h2", {}, "The container does not start"), h("ul", {}, ...items));
}

function unresolved(container: Container): HTMLElement | null {
  const items = model.unresolvedOnly(container).map((one) =>
    h(
      "li",
      {},
      h("code", {}, `$(${one.name})`),
      ` is not expanded: ${model.unresolvedText(one)} `,
      link(one.file, one.line, one.column),
    ),
  );
  if (items.length === 0) {
    return null;
  }
  const title = `Unresolved (${items.length})`;
  return h("section", { class: "unresolved" }, h("h2", {}, title), h("ul", {}, ...items));
}

/** Sources of which not all variables are known. */
function opaque(container: Container): HTMLElement | null {
  if (container.opaque.length === 0) {
    return null;
  }
  return section("Unknown sources", h("ul", { class: "opaque" }, ...container.opaque.map((one) => h("li", {}, model.opaqueText(one)))));
}

function presets(workload: Workload): HTMLElement | null {
  if (workload.presets.length === 0) {
    return null;
  }
  const items = workload.presets.map((preset) => {
    const conflicts = preset.conflicts.map((conflict) =>
      h("li", {}, `${conflict.kind} ${conflict.name} conflicts with `, link(conflict.with.file, conflict.with.line)),
    );
    return h(
      "li",
      {},
      h("strong", {}, preset.name),
      preset.applied ? " is applied " : preset.refused === undefined ? " is not applied " : ` is refused: ${preset.refused} `,
      link(preset.file, preset.line),
      conflicts.length > 0 ? h("ul", {}, ...conflicts) : null,
    );
  });
  return section("Presets", h("ul", {}, ...items));
}

function table(label: string, variables: readonly Variable[]): HTMLElement {
  // Explicit roles: in a narrow column the style sheet does not lay the table out as a table.
  const head = ["Name", "Value", "Source"].map((title) => h("th", { scope: "col", role: "columnheader" }, title));
  return h(
    "table",
    { "aria-label": label, role: "table" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...head)),
    h("tbody", { role: "rowgroup" }, ...variables.map(row)),
  );
}

function row(variable: Variable): HTMLElement {
  const text = model.displayValue(variable, revealed);
  const value = variable.state === "secret" || variable.value === null ? [text] : markPlaceholders(text, variable.state);
  const badge = variable.state === "known" ? null : h("span", { class: `badge ${variable.state}` }, variable.state);
  const hasReferences = variable.raw !== null && variable.raw !== variable.value && variable.raw.includes("$");
  return h(
    "tr",
    { id: rowId(variable.name), tabindex: "-1", class: variable.state, role: "row" },
    h("th", { scope: "row", role: "rowheader" }, h("code", {}, variable.name)),
    h(
      "td",
      { role: "cell" },
      variable.value === "" ? h("span", { class: "note" }, "empty") : longText(variable.name, value),
      badge,
      hasReferences ? h("div", { class: "note" }, "from ", h("code", {}, variable.raw ?? "")) : null,
      alternatives(variable),
    ),
    h("td", { role: "cell" }, hasOneSource(variable) ? sourceOf(variable.source) : "one of several", ...variable.hides.map(hiddenSource)),
  );
}

/** A text; a long text is collapsed, with a button that shows the rest. */
function longText(id: string, pieces: (HTMLElement | string)[]): DocumentFragment {
  const parts = document.createDocumentFragment();
  // The visible text: the length of a masked value must not be shown.
  const text = pieces.map((piece) => (typeof piece === "string" ? piece : (piece.textContent ?? ""))).join("");
  const isLong = model.isLong(text);
  const isCollapsed = isLong && !uncollapsed.has(id);
  parts.append(h("code", { class: isCollapsed ? "value collapsed" : "value" }, ...pieces));
  if (isLong) {
    const toggle = (): void => {
      if (!uncollapsed.delete(id)) {
        uncollapsed.add(id);
      }
      render();
    };
    const attributes = { type: "button", class: "more", id: `more-${id}`, "aria-expanded": String(!isCollapsed), click: toggle };
    parts.append(h("button", attributes, isCollapsed ? `Show all ${model.lengthText(text)}` : "Show less"));
  }
  return parts;
}

function rowId(name: string): string {
  return `variable-${name}`;
}

/** Marks the `<…>` placeholders, which the server sends for values that only the cluster knows. */
function markPlaceholders(text: string, state: string): (HTMLElement | string)[] {
  if (state === "known") {
    return [text];
  }
  return text
    .split(/(<[^<>]*>)/)
    .filter((piece) => piece !== "")
    .map((piece) => (piece.startsWith("<") ? h("span", { class: "placeholder" }, piece) : piece));
}

/** Whether all values that a variable may have come from one place. */
function hasOneSource(variable: Variable): boolean {
  const text = JSON.stringify(variable.source);
  return (variable.alternatives ?? []).every((one) => JSON.stringify(one.source) === text);
}

function alternatives(variable: Variable): HTMLElement | null {
  const all = variable.alternatives ?? [];
  if (all.length === 0) {
    return null;
  }
  const items = all.map((one) => {
    const value = one.source.kind === "secret" && !revealed ? model.MASK : (one.value ?? "unknown");
    return h("li", {}, h("code", {}, value), " ", sourceOf(one.source));
  });
  return h("ul", { class: "alternatives" }, ...items);
}

function sourceOf(source: Source): HTMLElement {
  const description = model.describeSource(source);
  return h("span", { class: "source" }, description, " ", source.file === null ? null : link(source.file, source.line ?? 1));
}

function hiddenSource(source: Source): HTMLElement {
  return h("div", { class: "note" }, "hides ", sourceOf(source));
}

function link(file: string, line: number, column?: number): HTMLElement {
  const click = (event: Event): void => {
    event.preventDefault();
    send(column === undefined ? { type: "open", file, line } : { type: "open", file, line, column });
  };
  return h("a", { href: "#", title: `${file}:${line}`, click }, model.locationText({ file, line }));
}

function expandedFields(container: Container): HTMLElement | null {
  const rows: [string, readonly Expanded[]][] = [
    ["command", container.command],
    ["args", container.args],
    ...container.probes.map((probe): [string, readonly Expanded[]] => [probe.probe, probe.command]),
    ...container.subPaths.map((path): [string, readonly Expanded[]] => [`mount ${path.mountPath ?? "?"}`, [path]]),
  ];
  const nonEmpty = rows.filter(([, texts]) => texts.length > 0);
  if (nonEmpty.length === 0) {
    return null;
  }
  const entries = nonEmpty.flatMap(([title, texts]) => [
    h("dt", {}, title),
    h("dd", {}, ...texts.flatMap((text, at) => [longText(`${title} ${at}`.replaceAll(" ", "-"), expandedText(text)), " "])),
  ]);
  return section("Commands and paths", h("dl", {}, ...entries));
}

function expandedText(text: Expanded): (HTMLElement | string)[] {
  if (text.state === "secret" && !revealed) {
    return [model.MASK];
  }
  return text.value === null ? [text.raw ?? "unknown"] : markPlaceholders(text.value, text.state);
}

function graph(container: Container): HTMLElement | null {
  const element = renderGraph(container, (name) => {
    const target = document.getElementById(rowId(name));
    const details = target?.closest("details");
    if (details) {
      details.open = true;
    }
    target?.scrollIntoView({ block: "center" });
    target?.focus();
  });
  return element === null ? null : details("graph", "References between variables", element);
}

function copyDotenv(): void {
  if (container !== null) {
    send({ type: "copy", ...model.dotenv(container, revealed) });
    copy.textContent = "Copied";
    resetCopyLabel();
  }
}

function toggleReveal(): void {
  revealed = !revealed;
  render();
}
