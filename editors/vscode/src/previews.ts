/**
 * Previews: the rendered manifest and the processed template as read-only documents, updated when the source changes.
 *
 * The URI of a preview contains the URI of its source, the kind, and the index of the YAML document. VS Code can therefore
 * reopen a preview after a restart, and repeated commands open the same preview. The position of the last command is moved
 * when lines above it are inserted or removed.
 */

import * as vscode from "vscode";
import { Debounce } from "./debounce";
import { isManifest } from "./selector";
import type { Server } from "./server";
import { documentAt, firstContentLine } from "./shared/documents";
import type { Position, Preview, PreviewKind, Values } from "./shared/protocol";

export const PREVIEW_SCHEME = "podlens-preview";

interface Request {
  source: vscode.Uri;
  kind: PreviewKind;
  /** The index of the YAML document in the source; undefined for a rendered manifest, which shows all of them. */
  document: number | undefined;
}

const NAMES: Record<PreviewKind, string> = { render: "rendered", process: "processed" };

export class Previews implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly received = new vscode.EventEmitter<{ uri: vscode.Uri; preview: Preview | null }>();
  private readonly positions = new Map<string, Position>();
  private readonly values = new Map<string, Values>();
  private readonly scheduled = new Debounce(150, () => this.refreshAll());
  private readonly subscriptions: vscode.Disposable[];

  readonly onDidChange = this.changed.event;
  /** Fires with every response of the server, for the parameter form. */
  readonly onDidReceive = this.received.event;

  constructor(private readonly server: Server) {
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(PREVIEW_SCHEME, this),
      server.onDidChange(() => this.scheduled.schedule()),
      vscode.workspace.onDidChangeTextDocument((event) => this.sourceChanged(event)),
      vscode.workspace.onDidSaveTextDocument(() => this.scheduled.schedule()),
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (document.uri.scheme === PREVIEW_SCHEME) {
          this.positions.delete(document.uri.toString());
        }
      }),
      this.changed,
      this.received,
      this.scheduled,
    ];
  }

  dispose(): void {
    this.subscriptions.forEach((subscription) => subscription.dispose());
  }

  async show(source: vscode.Uri, kind: PreviewKind, position?: Position): Promise<vscode.Uri> {
    const index = position === undefined ? undefined : documentAt(await textOf(source), position.line);
    const uri = previewUri({ source, kind, document: index });
    if (position !== undefined) {
      this.positions.set(uri.toString(), position);
    }
    const document = await vscode.workspace.openTextDocument(uri);
    // A preview that is already open may be outdated.
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

  /** The parameter values that were entered in the form. */
  valuesOf(uri: vscode.Uri): Values {
    return this.values.get(uri.toString()) ?? {};
  }

  setValues(uri: vscode.Uri, values: Values): void {
    this.values.set(uri.toString(), values);
    this.changed.fire(uri);
    if (!isOpen(uri)) {
      // VS Code does not request a document that is not open, but the form needs the problems.
      void this.fetch(uri);
    }
  }

  /** Requests the preview from the server and fires `onDidReceive`. */
  async fetch(uri: vscode.Uri): Promise<Preview | null> {
    const request = requestOf(uri);
    if (request === undefined) {
      return null;
    }
    const position = this.positions.get(uri.toString()) ?? (await defaultPosition(request));
    const preview = await this.server.request<Preview>("podlens/preview", {
      textDocument: { uri: request.source.toString() },
      ...(position === undefined ? {} : { position }),
      kind: request.kind,
      parameters: this.valuesOf(uri),
    });
    this.received.fire({ uri, preview });
    return preview;
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const request = requestOf(uri);
    if (request !== undefined) {
      // The server answers from open documents; when VS Code reopens a preview, its source may not be open yet.
      await vscode.workspace.openTextDocument(request.source).then(undefined, () => undefined);
    }
    const preview = await this.fetch(uri);
    if (preview === null) {
      const expected = request?.kind === "process" ? "template to process" : "workload to render";
      return this.server.health.current.state === "failed"
        ? "# The podlens server is not running.\n"
        : `# There is no ${expected} here.\n`;
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
    this.scheduled.schedule();
  }

  private refreshAll(): void {
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme === PREVIEW_SCHEME) {
        this.changed.fire(document.uri);
      }
    }
  }
}

/** The start of the YAML document, for a preview without a known position because VS Code has reopened it. */
async function defaultPosition({ source, document }: Request): Promise<Position | undefined> {
  return document === undefined ? undefined : { line: firstContentLine(await textOf(source), document), character: 0 };
}

/** The text of a source; empty if it no longer exists. */
async function textOf(source: vscode.Uri): Promise<string> {
  return vscode.workspace.openTextDocument(source).then((document) => document.getText(), () => "");
}

function isOpen(uri: vscode.Uri): boolean {
  return vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri.toString());
}

/** The position after changes: lines inserted or removed above it move it. */
function moved(position: Position, changes: readonly vscode.TextDocumentContentChangeEvent[]): Position {
  const lines = changes
    .filter((change) => change.range.end.line <= position.line && change.range.start.line < position.line)
    .map((change) => change.text.split("\n").length - 1 - (change.range.end.line - change.range.start.line));
  const line = lines.reduce((sum, delta) => sum + delta, position.line);
  return { line: Math.max(0, line), character: position.character };
}

/** The preview of `web.yaml` is named `web.rendered.yaml`: VS Code derives the language and the tab title from the name. */
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
