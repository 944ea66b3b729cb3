/**
 * The parameter form. Every change is sent to the extension, which processes the template again.
 *
 * The fields are rebuilt only if the parameters change, so that a response does not move the focus or overwrite input.
 */

import type { Parameter, ParametersMessage, ShowParameters, Values } from "../shared/protocol";
import { type Field, changedValues, defaultNote, fieldsOf, otherProblems } from "../shared/parameters";
import { debounce, h } from "./dom";
import { host } from "./host";

interface Row {
  field: Field;
  control: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
  note: HTMLElement;
  problem: HTMLElement;
}

let parameters: Parameter[] = [];
/** The parameters that the fields were built for, as JSON. */
let builtFor = "";
const rows = new Map<string, Row>();

const title = h("h1", {}, "Parameters");
const problems = h("ul", { class: "problems", role: "status" });
const form = h("form", { novalidate: true, submit: (event) => event.preventDefault() });
const reset = h("button", { type: "button", id: "reset", click: resetAll }, "Reset to defaults");
const compare = h("button", { type: "button", id: "compare", click: () => send({ type: "compare" }) }, "Compare with source");
const bar = h("div", { class: "bar" }, reset, compare);
const sendValuesSoon = debounce(150, sendValues);

document.body.append(h("main", {}, title, bar, problems, form));
window.addEventListener("message", (event: MessageEvent<ShowParameters>) => {
  if (event.data.type === "parameters") {
    show(event.data);
  }
});
send({ type: "ready" });

function send(message: ParametersMessage): void {
  host.postMessage(message);
}

function show(message: ShowParameters): void {
  title.textContent = message.title;
  parameters = message.parameters;
  const fields = fieldsOf(message.parameters, message.problems, message.values);
  const next = JSON.stringify(message.parameters);
  if (next !== builtFor) {
    builtFor = next;
    buildFields(fields);
  }
  for (const field of fields) {
    const row = rows.get(field.name);
    if (row !== undefined) {
      row.problem.textContent = field.problem;
      row.problem.hidden = field.problem === "";
      row.control.setAttribute("aria-invalid", String(field.problem !== ""));
    }
  }
  const others = otherProblems(message.parameters, message.problems);
  problems.replaceChildren(...others.map((text) => h("li", {}, text)));
  problems.hidden = others.length === 0;
}

function buildFields(fields: readonly Field[]): void {
  rows.clear();
  form.replaceChildren(
    ...fields.map((field) => {
      const control = controlOf(field);
      const note = h("p", { id: `default-${field.name}`, class: "note" });
      const problem = h("p", { id: `problem-${field.name}`, class: "problem" });
      const row = { field, control, note, problem };
      control.addEventListener("input", () => {
        updateNote(row);
        sendValuesSoon();
      });
      rows.set(field.name, row);
      updateNote(row);
      const hasDisplayName = field.label !== field.name;
      return h(
        "div",
        { class: "field" },
        h(
          "label",
          { for: control.id },
          field.label,
          hasDisplayName ? h("code", {}, field.name) : null,
          field.type === "" ? null : h("span", { class: "note" }, field.type),
          field.required ? h("span", { class: "note" }, "required") : null,
        ),
        field.description === "" ? null : h("p", { id: `about-${field.name}`, class: "note" }, field.description),
        control,
        note,
        problem,
      );
    }),
  );
  if (fields.length === 0) {
    form.replaceChildren(h("p", { class: "empty" }, "This template has no parameters."));
  }
}

function updateNote({ field, control, note }: Row): void {
  note.textContent = defaultNote(field, control.value);
  note.hidden = note.textContent === "";
}

function controlOf(field: Field): Row["control"] {
  const about = field.description === "" ? "" : `about-${field.name} `;
  const attributes = {
    id: `field-${field.name}`,
    name: field.name,
    required: field.required,
    "aria-describedby": `${about}default-${field.name} problem-${field.name}`,
  };
  if (field.input === "choice") {
    const values = field.initial === "" ? ["", "true", "false"] : ["true", "false"];
    const options = values.map((value) => h("option", { value }, value === "" ? "not set" : value));
    const select = h("select", attributes, ...options);
    select.value = field.initial;
    return select;
  }
  if (field.input === "long") {
    const area = h("textarea", { ...attributes, rows: "4", spellcheck: "false" });
    area.value = field.initial;
    return area;
  }
  const input = h("input", {
    ...attributes,
    type: "text",
    inputmode: field.input === "number" ? "numeric" : undefined,
    placeholder: field.placeholder,
    spellcheck: "false",
    autocomplete: "off",
  });
  input.value = field.initial;
  return input;
}

function inputs(): Values {
  return Object.fromEntries([...rows].map(([name, row]) => [name, row.control.value]));
}

function sendValues(): void {
  send({ type: "values", values: changedValues(parameters, inputs()) });
}

function resetAll(): void {
  for (const parameter of parameters) {
    const row = rows.get(parameter.name);
    if (row !== undefined) {
      row.control.value = parameter.value ?? "";
      updateNote(row);
    }
  }
  sendValues();
}
