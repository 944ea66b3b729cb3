/**
 * The types of the two custom requests to the server, and of the messages between the extension and its pages.
 *
 * Types only, so that the extension and the pages can share them.
 */

export interface Position {
  line: number;
  character: number;
}

/** How much of a value is known. */
export type State = "known" | "partial" | "unknown" | "secret";

/** Where a value comes from. Line numbers start at 1. */
export interface Source {
  kind: string;
  object: string | null;
  key: string | null;
  file: string | null;
  line: number | null;
}

export interface Variable {
  name: string;
  value: string | null;
  state: State;
  raw: string | null;
  source: Source;
  hides: Source[];
  alternatives?: { value: string | null; source: Source }[];
}

export interface Expanded {
  value: string | null;
  state: State;
  raw: string | null;
}

/** A reference that is not expanded. `why` is `undefined`, `forward`, `self`, `probe` or `linksOff`. */
export interface Unresolved {
  name: string;
  file: string;
  line: number;
  column: number;
  why: string;
}

/** An entry of `envFrom` whose variables are not all known. */
export interface Opaque {
  kind: string;
  object: string;
  prefix: string;
  why: string;
}

/**
 * Something that keeps the container from starting. `why` is `missingKey`, `missingFile`, `unreadableFile`,
 * `missingContainer`, `refusedSource` or `emptySubPath`.
 */
export interface Failure {
  name: string;
  why: string;
  file: string;
  line: number;
}

export interface Container {
  name: string | null;
  role: string;
  env: Variable[];
  command: Expanded[];
  args: Expanded[];
  probes: { probe: string; command: Expanded[] }[];
  subPaths: (Expanded & { mountPath: string | null })[];
  unresolved: Unresolved[];
  opaque: Opaque[];
  failures: Failure[];
}

export interface Conflict {
  kind: string;
  name: string;
  container: string | null;
  with: { file: string; line: number };
}

export interface Preset {
  name: string;
  file: string;
  line: number;
  applied: boolean;
  conflicts: Conflict[];
  /** Why the API server refuses it, if it is invalid. */
  refused?: string;
}

export interface Workload {
  file: string;
  line: number;
  apiVersion: string | null;
  kind: string | null;
  name: string | null;
  namespace: string | null;
  /** The name of its view; null for an object that is used as it is written. */
  view: string | null;
  presets: Preset[];
  /** The services whose variables the containers get without naming them. */
  services: string[];
  containers: Container[];
}

/** The response to `podlens/environment`: `podlens/env/v2` with one workload and one container, and the variables of services. */
export interface Environment {
  schema: string;
  workloads: Workload[];
}

export type PreviewKind = "render" | "process";

export interface Parameter {
  name: string;
  displayName: string | null;
  description: string | null;
  value: string | null;
  generate: string | null;
  from: string | null;
  required: boolean;
  type: string | null;
}

export interface Problem {
  message: string;
  parameter: string | null;
}

/** The response to `podlens/preview`. */
export interface Preview {
  uri: string;
  kind: PreviewKind;
  text: string;
  problems: Problem[];
  parameters: Parameter[];
}

/** Values for parameters, by name. */
export type Values = Record<string, string>;

/** From the extension to the environment page. */
export interface ShowEnvironment {
  type: "environment";
  environment: Environment | null;
}

/** From the environment page to the extension. */
export type EnvironmentMessage =
  | { type: "ready" }
  | { type: "open"; file: string; line: number; column?: number }
  | { type: "copy"; text: string; count: number };

/** From the extension to the parameter form. */
export interface ShowParameters {
  type: "parameters";
  title: string;
  parameters: Parameter[];
  problems: Problem[];
  values: Values;
}

/** From the parameter form to the extension. */
export type ParametersMessage = { type: "ready" } | { type: "values"; values: Values } | { type: "compare" };
