/**
 * The editor settings that have the same names as the keys of `podlens.yaml`.
 *
 * Only values that the user has set are sent, so that a VS Code default never overrides the project's `podlens.yaml`.
 */

import * as vscode from "vscode";

export type Json = { [key: string]: unknown };

/** The settings in the extension manifest that correspond to `podlens.yaml`; the others are for the extension only. */
function serverKeys(extension: vscode.Extension<unknown>): string[] {
  const sections = (extension.packageJSON as { contributes: { configuration: { properties: Json }[] } }).contributes
    .configuration;
  const extensionOnly = /^podlens\.(server|trace)\./;
  return sections.flatMap((section) => Object.keys(section.properties)).filter((key) => !extensionOnly.test(key));
}

/** The values that are set, in the structure of `podlens.yaml`. */
export function serverSettings(extension: vscode.Extension<unknown>, scope?: vscode.Uri): Json {
  const configuration = vscode.workspace.getConfiguration(undefined, scope ?? null);
  const settings: Json = {};
  for (const key of serverKeys(extension)) {
    const inspected = configuration.inspect(key);
    const isSet = [inspected?.globalValue, inspected?.workspaceValue, inspected?.workspaceFolderValue].some((it) => it !== undefined);
    if (isSet) {
      setAt(settings, key.split(".").slice(1), configuration.get(key));
    }
  }
  return settings;
}

function setAt(into: Json, path: string[], value: unknown): void {
  const [first, ...rest] = path;
  if (first === undefined) {
    return;
  }
  if (rest.length === 0) {
    into[first] = value;
  } else {
    setAt((into[first] ??= {}) as Json, rest, value);
  }
}

/** The part of the settings that a `workspace/configuration` request names; section `podlens` is all of them. */
export function sectionOf(settings: Json, section: string): unknown {
  return section
    .split(".")
    .slice(1)
    .reduce<unknown>((value, key) => (typeof value === "object" && value !== null ? (value as Json)[key] : null), settings);
}
