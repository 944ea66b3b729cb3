/**
 * The fields of a template's parameters, and which of their values are sent. No DOM and no VS Code in here.
 */

import type { Parameter, Problem, Values } from "./protocol";

export interface Field {
  name: string;
  label: string;
  /** `choice` is for true and false, `number` for whole numbers. */
  input: "text" | "number" | "choice" | "long";
  /** What stands in it before anybody types. */
  initial: string;
  placeholder: string;
  /** What the template says, for fields that say something else. */
  default: string;
  /** The type as the template names it. */
  type: string;
  required: boolean;
  description: string;
  problem: string;
}

/** The fields in the order of the template. */
export function fields(parameters: readonly Parameter[], problems: readonly Problem[], values: Values): Field[] {
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

/** What the template says, for a field in which something else stands; nothing if there is nothing to say. */
export function defaultNote(field: Field, input: string): string {
  return field.default === "" || input === field.default ? "" : `The template says ${field.default}`;
}

/** Problems that belong to no field. */
export function otherProblems(parameters: readonly Parameter[], problems: readonly Problem[]): string[] {
  const names = new Set(parameters.map((parameter) => parameter.name));
  return problems
    .filter((problem) => problem.parameter === null || !names.has(problem.parameter))
    .map((problem) => problem.message);
}

/** Only what differs from the template's own value is sent, so that an edit of the template shows. */
export function changed(parameters: readonly Parameter[], inputs: Values): Values {
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
