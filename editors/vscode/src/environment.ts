/**
 * The environment view: a page beside the editor for the container under the cursor.
 *
 * It follows the cursor and the text. Where the cursor is in no container, the last one stays.
 */

import * as vscode from "vscode";
import { createPage } from "./page";
import { fileUri, openPlace } from "./places";
import { Quiet } from "./quiet";
import { isManifest } from "./selector";
import type { Server } from "./server";
import type { Environment, EnvironmentMessage, ShowEnvironment } from "./shared/protocol";

interface Place {
  uri: vscode.Uri;
  position: vscode.Position;
}

export class EnvironmentView implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private asked: Place | undefined;
  private shown: { environment: Environment; place: Place; turn: number } | undefined;
  private turn = 0;
  private readonly soon = new Quiet(120, () => void this.refresh());
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly server: Server,
  ) {
    this.subscriptions = [
      this.soon,
      server.onDidChange(() => this.soon.touch()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
      vscode.window.onDidChangeActiveTextEditor((editor) => editor && this.follow(editor)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (isManifest(document)) {
          this.soon.touch();
        }
      }),
      vscode.workspace.onDidSaveTextDocument(() => this.soon.touch()),
    ];
  }

  /** What is shown now. */
  get current(): Environment | undefined {
    return this.panel === undefined ? undefined : this.shown?.environment;
  }

  async show(uri: vscode.Uri, position: vscode.Position): Promise<void> {
    this.asked = { uri, position };
    if (this.panel === undefined) {
      this.panel = this.createPanel();
    } else {
      this.panel.reveal(undefined, true);
    }
    await this.refresh();
    if (this.shown === undefined) {
      void vscode.window.showInformationMessage("podlens: put the cursor in a container of a manifest.");
    }
  }

  dispose(): void {
    this.panel?.dispose();
    this.subscriptions.forEach((subscription) => subscription.dispose());
  }

  private follow(editor: vscode.TextEditor): void {
    if (this.panel !== undefined && isManifest(editor.document)) {
      this.asked = { uri: editor.document.uri, position: editor.selection.active };
      this.soon.touch();
    }
  }

  /** Asks about the place that was asked for last; where no container is, about the one that is shown. */
  private async refresh(): Promise<void> {
    const turn = ++this.turn;
    for (const place of [this.asked, this.shown?.place]) {
      const environment = place === undefined || this.panel === undefined ? null : await this.ask(place);
      // A slow answer must not replace that of a later question.
      if (environment !== null && place !== undefined && turn > (this.shown?.turn ?? 0)) {
        this.shown = { environment, place, turn };
        this.send();
        return;
      }
    }
  }

  private ask({ uri, position }: Place): Promise<Environment | null> {
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
    panel.webview.onDidReceiveMessage((message: EnvironmentMessage) => void this.received(message, panel));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.shown = undefined;
    });
    return panel;
  }

  private async received(message: EnvironmentMessage, panel: vscode.WebviewPanel): Promise<void> {
    switch (message.type) {
      case "ready":
        this.send();
        break;
      case "copy": {
        await vscode.env.clipboard.writeText(message.text);
        const left = (this.shown?.environment.workloads[0]?.containers[0]?.env.length ?? message.count) - message.count;
        const rest = left > 0 ? `; ${left} without a known value are comments` : "";
        void vscode.window.setStatusBarMessage(`podlens: copied ${message.count} variables${rest}`, 5000);
        break;
      }
      case "open":
        if (this.shown !== undefined) {
          const uri = fileUri(message.file, this.shown.place.uri);
          await openPlace(uri, message.line, message.column ?? 1, panel.viewColumn);
        }
        break;
    }
  }
}
