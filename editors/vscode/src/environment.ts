/**
 * The environment view: a webview next to the editor that shows the container under the cursor.
 *
 * It is refreshed when the cursor or the text changes. If the cursor leaves all containers, the last one stays visible.
 */

import * as vscode from "vscode";
import { createPage } from "./page";
import { Debounce } from "./debounce";
import { fileUri, openLocation } from "./locations";
import { isManifest } from "./selector";
import type { Server } from "./server";
import type { Environment, EnvironmentMessage, ShowEnvironment } from "./shared/protocol";

interface CursorPosition {
  uri: vscode.Uri;
  position: vscode.Position;
}

export class EnvironmentView implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private requested: CursorPosition | undefined;
  private shown: { environment: Environment; cursor: CursorPosition; requestId: number } | undefined;
  private requestId = 0;
  private readonly scheduled = new Debounce(120, () => void this.refresh());
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly server: Server,
  ) {
    this.subscriptions = [
      this.scheduled,
      server.onDidChange(() => this.scheduled.schedule()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
      vscode.window.onDidChangeActiveTextEditor((editor) => editor && this.follow(editor)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (isManifest(document)) {
          this.scheduled.schedule();
        }
      }),
      vscode.workspace.onDidSaveTextDocument(() => this.scheduled.schedule()),
    ];
  }

  /** The environment that the view shows; undefined if the view is closed. */
  get current(): Environment | undefined {
    return this.panel === undefined ? undefined : this.shown?.environment;
  }

  async show(uri: vscode.Uri, position: vscode.Position): Promise<void> {
    this.requested = { uri, position };
    if (this.panel === undefined) {
      this.panel = this.createPanel();
    } else {
      this.panel.reveal(undefined, true);
    }
    await this.refresh();
    if (this.shown === undefined) {
      void vscode.window.showInformationMessage("podlens: the cursor is not in a container. Place it inside a container of a manifest.");
    }
  }

  dispose(): void {
    this.panel?.dispose();
    this.subscriptions.forEach((subscription) => subscription.dispose());
  }

  private follow(editor: vscode.TextEditor): void {
    if (this.panel !== undefined && isManifest(editor.document)) {
      this.requested = { uri: editor.document.uri, position: editor.selection.active };
      this.scheduled.schedule();
    }
  }

  /** Requests the container at the cursor, or the one that is shown if there is none at the cursor. */
  private async refresh(): Promise<void> {
    const requestId = ++this.requestId;
    for (const cursor of [this.requested, this.shown?.cursor]) {
      const environment = cursor === undefined || this.panel === undefined ? null : await this.fetch(cursor);
      // A late response must not replace the response to a newer request.
      if (environment !== null && cursor !== undefined && requestId > (this.shown?.requestId ?? 0)) {
        this.shown = { environment, cursor, requestId };
        this.send();
        return;
      }
    }
  }

  private fetch({ uri, position }: CursorPosition): Promise<Environment | null> {
    return this.server.request<Environment>("podlens/environment", {
      textDocument: { uri: uri.toString() },
      position: { line: position.line, character: position.character },
    });
  }

  private send(): void {
    const container = this.shown?.environment.workloads[0]?.containers[0];
    if (this.panel !== undefined) {
      this.panel.title = container === undefined ? "Environment" : `Environment: ${container.name ?? "?"}`;
      const message: ShowEnvironment = { type: "environment", environment: this.shown?.environment ?? null };
      void this.panel.webview.postMessage(message);
    }
  }

  private createPanel(): vscode.WebviewPanel {
    const panel = createPage(this.extension, "environment", "Environment", vscode.ViewColumn.Beside, false);
    panel.webview.onDidReceiveMessage((message: EnvironmentMessage) => void this.handleMessage(message, panel));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.shown = undefined;
    });
    return panel;
  }

  private async handleMessage(message: EnvironmentMessage, panel: vscode.WebviewPanel): Promise<void> {
    switch (message.type) {
      case "ready":
        this.send();
        break;
      case "copy": {
        await vscode.env.clipboard.writeText(message.text);
        const skipped = (this.shown?.environment.workloads[0]?.containers[0]?.env.length ?? message.count) - message.count;
        const note = skipped > 0 ? `; ${skipped} without a known value are written as comments` : "";
        void vscode.window.setStatusBarMessage(`podlens: copied ${message.count} variables${note}`, 5000);
        break;
      }
      case "open":
        if (this.shown !== undefined) {
          const uri = fileUri(message.file, this.shown.cursor.uri);
          await openLocation(uri, message.line, message.column ?? 1, panel.viewColumn);
        }
        break;
    }
  }
}
