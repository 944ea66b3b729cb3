/**
 * The logic of the parameter form: its fields, and which values are sent. Does not use the DOM or the VS Code API.
 */

import type { Parameter, Problem, Values } from "./protocol";

export interface Field {
  name: string;
  label: string;
  /** `choice` is for booleans, `number` for integers, `long` for text of several lines. */
  input: "text" | "number" | "choice" | "long";
  /** The text in the field before the user edits it. */
  initial: string;
  placeholder: string;
  /** The default value in the template. */
  default: string;
  /** The type as written in the template. */
  type: string;
  required: boolean;
  description: string;
  problem: string;
}

/** The fields, in the order of the template. */
export function fieldsOf(parameters: readonly Parameter[], problems: readonly Problem[], values: Values): Field[] {
  return parameters.map((parameter) => ({
    name: parameter.name,
    label: parameter.displayName ?? parameter.name,
    input: inputOf(parameter),
    initial: values[parameter.name] ?? parameter.value ?? "",
    placeholder: placeholderOf(parameter),
    default: parameter.value ?? "",
    type: parameter.type ?? "",
    required: parameter.required,
    description: parameter.description ?? "",
    problem: problems
      .filter((problem) => problem.parameter === parameter.name)
      .map((problem) => problem.message)
      .join("\n"),
  }));
}

/** A note with the template's default if the input differs from it; otherwise empty. */
export function defaultNote(field: Field, input: string): string {
  return field.default === "" || input === field.default ? "" : `Default: ${field.default}`;
}

/** The problems that do not belong to a field. */
export function otherProblems(parameters: readonly Parameter[], problems: readonly Problem[]): string[] {
  const names = new Set(parameters.map((parameter) => parameter.name));
  return problems
    .filter((problem) => problem.parameter === null || !names.has(problem.parameter))
    .map((problem) => problem.message);
}

/** The inputs that differ from the default. Only these are sent, so that an edited default takes effect. */
export function changedValues(parameters: readonly Parameter[], inputs: Values): Values {
  const values: Values = {};
  for (const parameter of parameters) {
    const input = inputs[parameter.name];
    if (input !== undefined && input !== (parameter.value ?? "")) {
      values[parameter.name] = input;
    }
  }
  return values;
}

function inputOf(parameter: Parameter): Field["input"] {
  switch (parameter.type?.toLowerCase()) {
    case "bool":
    case "boolean":
      return "choice";
    case "int":
    case "integer":
    case "number":
      return "number";
    default:
      return (parameter.value ?? "").includes("\n") ? "long" : "text";
  }
}

function placeholderOf(parameter: Parameter): string {
  if (parameter.generate !== null && parameter.generate !== "") {
    return parameter.from === null ? "generated" : `generated from ${parameter.from}`;
  }
  return parameter.required ? "required" : "";
}
