/**
 * Previews: the rendered manifest and the processed template as read-only documents that follow the source.
 *
 * The address of a preview holds the address of its source, its kind and which document of the source it is of, so that
 * VS Code can open it again by itself, and there is one however often and wherever in it somebody asks. The place it was
 * asked for last moves with the lines that are typed above it.
 */

import * as vscode from "vscode";
import { Quiet } from "./quiet";
import { isManifest } from "./selector";
import type { Server } from "./server";
import { documentAt, startOf } from "./shared/documents";
import type { Position, Preview, PreviewKind, Values } from "./shared/protocol";

export const PREVIEW_SCHEME = "podlens-preview";

interface Request {
  source: vscode.Uri;
  kind: PreviewKind;
  /** Which of the documents in the source; a rendered manifest is all of them. */
  document: number | undefined;
}

const NAMES: Record<PreviewKind, string> = { render: "rendered", process: "processed" };

export class Previews implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly answered = new vscode.EventEmitter<{ uri: vscode.Uri; preview: Preview | null }>();
  private readonly positions = new Map<string, Position>();
  private readonly values = new Map<string, Values>();
  private readonly soon = new Quiet(150, () => this.refreshAll());
  private readonly subscriptions: vscode.Disposable[];

  readonly onDidChange = this.changed.event;
  /** Fires with every answer of the server, for the form of parameters. */
  readonly onDidAnswer = this.answered.event;

  constructor(private readonly server: Server) {
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(PREVIEW_SCHEME, this),
      server.onDidChange(() => this.soon.touch()),
      vscode.workspace.onDidChangeTextDocument((event) => this.sourceChanged(event)),
      vscode.workspace.onDidSaveTextDocument(() => this.soon.touch()),
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (document.uri.scheme === PREVIEW_SCHEME) {
          this.positions.delete(document.uri.toString());
        }
      }),
      this.changed,
      this.answered,
      this.soon,
    ];
  }

  dispose(): void {
    this.subscriptions.forEach((subscription) => subscription.dispose());
  }

  async show(source: vscode.Uri, kind: PreviewKind, position?: Position): Promise<vscode.Uri> {
    const which = position === undefined ? undefined : documentAt(await textOf(source), position.line);
    const uri = previewUri({ source, kind, document: which });
    if (position !== undefined) {
      this.positions.set(uri.toString(), position);
    }
    const document = await vscode.workspace.openTextDocument(uri);
    // One that is open already may be older than the source.
    this.changed.fire(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: false });
    return uri;
  }

  async compare(uri: vscode.Uri): Promise<void> {
    const request = requestOf(uri);
    if (request !== undefined) {
      const name = request.source.path.split("/").pop() ?? "";
      await vscode.commands.executeCommand("vscode.diff", request.source, uri, `${name} ↔ ${NAMES[request.kind]}`);
    }
  }

  /** The values somebody gave to the parameters of a template. */
  valuesOf(uri: vscode.Uri): Values {
    return this.values.get(uri.toString()) ?? {};
  }

  setValues(uri: vscode.Uri, values: Values): void {
    this.values.set(uri.toString(), values);
    this.changed.fire(uri);
    if (!isOpen(uri)) {
      // Nobody shows the document, so nobody would ask; the form still wants to know what is wrong.
      void this.ask(uri);
    }
  }

  /** Asks the server, and tells whoever listens. */
  async ask(uri: vscode.Uri): Promise<Preview | null> {
    const request = requestOf(uri);
    if (request === undefined) {
      return null;
    }
    const position = this.positions.get(uri.toString()) ?? (await placeOf(request));
    const preview = await this.server.request<Preview>("podlens/preview", {
      textDocument: { uri: request.source.toString() },
      ...(position === undefined ? {} : { position }),
      kind: request.kind,
      parameters: this.valuesOf(uri),
    });
    this.answered.fire({ uri, preview });
    return preview;
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const request = requestOf(uri);
    if (request !== undefined) {
      // The server knows open documents best; a preview that VS Code opens by itself has none yet.
      await vscode.workspace.openTextDocument(request.source).then(undefined, () => undefined);
    }
    const preview = await this.ask(uri);
    if (preview === null) {
      const what = request?.kind === "process" ? "template to process" : "workload to render";
      return this.server.health.current.state === "failed"
        ? "# The podlens server does not run.\n"
        : `# There is no ${what} here.\n`;
    }
    const problems = preview.problems.map((problem) => `# ${problem.message.replaceAll("\n", "\n# ")}\n`);
    return problems.join("") + preview.text;
  }

  private sourceChanged({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    if (!isManifest(document) || contentChanges.length === 0) {
      return;
    }
    for (const [key, position] of this.positions) {
      const request = requestOf(vscode.Uri.parse(key));
      if (request?.source.toString() === document.uri.toString()) {
        this.positions.set(key, moved(position, contentChanges));
      }
    }
    this.soon.touch();
  }

  private refreshAll(): void {
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme === PREVIEW_SCHEME) {
        this.changed.fire(document.uri);
      }
    }
  }
}

/** Where a document starts, for a preview that nobody asked for at a place: VS Code has opened it again. */
async function placeOf({ source, document }: Request): Promise<Position | undefined> {
  return document === undefined ? undefined : { line: startOf(await textOf(source), document), character: 0 };
}

/** The text of a source; nothing if it is gone. */
async function textOf(source: vscode.Uri): Promise<string> {
  return vscode.workspace.openTextDocument(source).then((document) => document.getText(), () => "");
}

function isOpen(uri: vscode.Uri): boolean {
  return vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri.toString());
}

/** A place after some changes: lines that came or went above it move it. */
function moved(position: Position, changes: readonly vscode.TextDocumentContentChangeEvent[]): Position {
  const lines = changes
    .filter((change) => change.range.end.line <= position.line && change.range.start.line < position.line)
    .map((change) => change.text.split("\n").length - 1 - (change.range.end.line - change.range.start.line));
  const line = lines.reduce((sum, delta) => sum + delta, position.line);
  return { line: Math.max(0, line), character: position.character };
}

/** `web.yaml` is previewed as `web.rendered.yaml`: VS Code takes the language and the tab's title from it. */
export function previewUri(request: Request): vscode.Uri {
  const path = request.source.path;
  const dot = path.lastIndexOf(".");
  const at = dot > path.lastIndexOf("/") ? dot : path.length;
  return vscode.Uri.from({
    scheme: PREVIEW_SCHEME,
    path: `${path.slice(0, at)}.${NAMES[request.kind]}${path.slice(at) || ".yaml"}`,
    query: JSON.stringify({ source: request.source.toString(), kind: request.kind, document: request.document }),
  });
}

export function requestOf(uri: vscode.Uri): Request | undefined {
  try {
    const query = JSON.parse(uri.query) as { source: string; kind: PreviewKind; document?: number };
    return { source: vscode.Uri.parse(query.source, true), kind: query.kind, document: query.document };
  } catch {
    return undefined;
  }
}
