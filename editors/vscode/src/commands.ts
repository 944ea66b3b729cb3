/** Registers the commands of the palette and of the server's code lenses. */

import * as vscode from "vscode";
import type { EnvironmentView } from "./environment";
import type { ParametersForm } from "./parameters";
import { type Previews, PREVIEW_SCHEME, previewUri } from "./previews";
import { isManifest } from "./selector";
import type { Server } from "./server";
import type { Position, PreviewKind } from "./shared/protocol";

interface Parts {
  server: Server;
  previews: Previews;
  form: ParametersForm;
  environment: EnvironmentView;
}

interface ProtocolLocation {
  uri: string;
  range: { start: Position; end: Position };
}

export function registerCommands(context: vscode.ExtensionContext, { server, previews, form, environment }: Parts): void {
  const register = (name: string, run: (...args: never[]) => unknown): void => {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  };

  register("podlens.restart", () => server.restart());
  register("podlens.showOutput", () => server.output.show());
  register("podlens.showTrace", () => server.trace.show());

  register("podlens.showEnvironment", async (uri?: string | vscode.Uri, position?: Position) => {
    const target = position === undefined ? cursor() : { uri: toUri(uri), position };
    if (target?.uri !== undefined) {
      await environment.show(target.uri, toPosition(target.position));
    }
  });
  const showPreview = async (kind: PreviewKind, uri?: string | vscode.Uri, position?: Position): Promise<void> => {
    const current = cursor();
    const source = toUri(uri) ?? current?.uri;
    if (source !== undefined) {
      // `render` covers the whole file; `process` covers the template at the cursor.
      const at = kind === "render" ? undefined : (position ?? current?.position);
      await previews.show(source, kind, at);
    }
  };
  register("podlens.showPreview", (uri: string, position: Position, kind: PreviewKind) => showPreview(kind, uri, position));
  register("podlens.previewRendered", () => showPreview("render"));
  register("podlens.previewProcessed", () => showPreview("process"));
  register("podlens.editParameters", async () => {
    const active = activePreview();
    if (active !== undefined) {
      await form.show(active);
      return;
    }
    const current = cursor();
    if (current !== undefined) {
      const uri = await previews.show(current.uri, "process", current.position);
      await form.show(uri);
    }
  });
  register("podlens.comparePreview", async (uri?: vscode.Uri) => {
    const preview = uri?.scheme === PREVIEW_SCHEME ? uri : activePreview();
    const current = cursor();
    if (preview !== undefined) {
      await previews.compare(preview);
    } else if (current !== undefined) {
      await previews.compare(previewUri({ source: current.uri, kind: "render", document: undefined }));
    }
  });

  register("podlens.showLocations", async (uri: string, position: Position, locations: ProtocolLocation[]) => {
    const targets = locations.map(({ uri: target, range }) => {
      const [start, end] = [toPosition(range.start), toPosition(range.end)];
      return new vscode.Location(vscode.Uri.parse(target), new vscode.Range(start, end));
    });
    const source = vscode.Uri.parse(uri);
    await vscode.commands.executeCommand("editor.action.showReferences", source, toPosition(position), targets);
  });
}

/** The file and position of the cursor, if the active editor shows a manifest. */
function cursor(): { uri: vscode.Uri; position: Position } | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || !isManifest(editor.document)) {
    return undefined;
  }
  const { line, character } = editor.selection.active;
  return { uri: editor.document.uri, position: { line, character } };
}

/** The preview in the active editor. */
function activePreview(): vscode.Uri | undefined {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri?.scheme === PREVIEW_SCHEME ? uri : undefined;
}

function toUri(uri: string | vscode.Uri | undefined): vscode.Uri | undefined {
  return typeof uri === "string" ? vscode.Uri.parse(uri) : uri;
}

function toPosition(position: Position): vscode.Position {
  return new vscode.Position(position.line, position.character);
}
