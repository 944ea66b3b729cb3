/**
 * The settings of `podlens.yaml` as the editor has them.
 *
 * Only what somebody has set is sent: a default of VS Code must not win over what the project's `podlens.yaml` says.
 */

import * as vscode from "vscode";

export type Json = { [key: string]: unknown };

/** The names that mirror `podlens.yaml`: what the manifest declares, without what is for the extension alone. */
function serverKeys(extension: vscode.Extension<unknown>): string[] {
  const sections = (extension.packageJSON as { contributes: { configuration: { properties: Json }[] } }).contributes
    .configuration;
  const own = /^podlens\.(server|trace)\./;
  return sections.flatMap((section) => Object.keys(section.properties)).filter((key) => !own.test(key));
}

/** What is set, in the shape of `podlens.yaml`. */
export function serverSettings(extension: vscode.Extension<unknown>, scope?: vscode.Uri): Json {
  const configuration = vscode.workspace.getConfiguration(undefined, scope ?? null);
  const settings: Json = {};
  for (const key of serverKeys(extension)) {
    const found = configuration.inspect(key);
    const set = [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue].some((it) => it !== undefined);
    if (set) {
      put(settings, key.split(".").slice(1), configuration.get(key));
    }
  }
  return settings;
}

function put(into: Json, path: string[], value: unknown): void {
  const [first, ...rest] = path;
  if (first === undefined) {
    return;
  }
  if (rest.length === 0) {
    into[first] = value;
  } else {
    put((into[first] ??= {}) as Json, rest, value);
  }
}

/** The part of the settings that a section of `workspace/configuration` asks for; `podlens` is all of them. */
export function sectionOf(settings: Json, section: string): unknown {
  return section
    .split(".")
    .slice(1)
    .reduce<unknown>((value, key) => (typeof value === "object" && value !== null ? (value as Json)[key] : null), settings);
}
