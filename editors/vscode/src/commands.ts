/** The commands: those of the palette, and those that the server's code lenses name. */

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
    const place = position === undefined ? cursor() : { uri: toUri(uri), position };
    if (place?.uri !== undefined) {
      await environment.show(place.uri, toPosition(place.position));
    }
  });
  const preview = async (kind: PreviewKind, uri?: string | vscode.Uri, position?: Position): Promise<void> => {
    const place = cursor();
    const source = toUri(uri) ?? place?.uri;
    if (source !== undefined) {
      // A manifest is rendered whole; of several templates in a file the one at the cursor is processed.
      const at = kind === "render" ? undefined : (position ?? place?.position);
      await previews.show(source, kind, at);
    }
  };
  register("podlens.showPreview", (uri: string, position: Position, kind: PreviewKind) => preview(kind, uri, position));
  register("podlens.previewRendered", () => preview("render"));
  register("podlens.previewProcessed", () => preview("process"));
  register("podlens.editParameters", async () => {
    const shown = previewAtHand();
    if (shown !== undefined) {
      await form.show(shown);
      return;
    }
    const place = cursor();
    if (place !== undefined) {
      const uri = await previews.show(place.uri, "process", place.position);
      await form.show(uri);
    }
  });
  register("podlens.comparePreview", async (uri?: vscode.Uri) => {
    const shown = uri?.scheme === PREVIEW_SCHEME ? uri : previewAtHand();
    const place = cursor();
    if (shown !== undefined) {
      await previews.compare(shown);
    } else if (place !== undefined) {
      await previews.compare(previewUri({ source: place.uri, kind: "render", document: undefined }));
    }
  });

  register("podlens.showLocations", async (uri: string, position: Position, locations: ProtocolLocation[]) => {
    const found = locations.map(({ uri: target, range }) => {
      const [start, end] = [toPosition(range.start), toPosition(range.end)];
      return new vscode.Location(vscode.Uri.parse(target), new vscode.Range(start, end));
    });
    const source = vscode.Uri.parse(uri);
    await vscode.commands.executeCommand("editor.action.showReferences", source, toPosition(position), found);
  });
}

/** Where the cursor is, if it is in a manifest. */
function cursor(): { uri: vscode.Uri; position: Position } | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || !isManifest(editor.document)) {
    return undefined;
  }
  const { line, character } = editor.selection.active;
  return { uri: editor.document.uri, position: { line, character } };
}

/** The preview of a template that has the focus. */
function previewAtHand(): vscode.Uri | undefined {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri?.scheme === PREVIEW_SCHEME ? uri : undefined;
}

function toUri(uri: string | vscode.Uri | undefined): vscode.Uri | undefined {
  return typeof uri === "string" ? vscode.Uri.parse(uri) : uri;
}

function toPosition(position: Position): vscode.Position {
  return new vscode.Position(position.line, position.character);
}
