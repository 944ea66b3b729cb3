/** The parameter form: a webview whose values are used in the preview of the processed template. */

import * as vscode from "vscode";
import { createPage } from "./page";
import type { Previews } from "./previews";
import { requestOf } from "./previews";
import type { ParametersMessage, Preview, ShowParameters } from "./shared/protocol";

export class ParametersForm implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private uri: vscode.Uri | undefined;
  private last: Preview | undefined;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly previews: Previews,
  ) {
    this.subscription = previews.onDidReceive(({ uri, preview }) => {
      if (preview !== null && uri.toString() === this.uri?.toString()) {
        this.last = preview;
        this.send();
      }
    });
  }

  /** Shows the form for the preview at `uri`. */
  async show(uri: vscode.Uri): Promise<void> {
    this.uri = uri;
    this.last = undefined;
    if (this.panel === undefined) {
      this.panel = this.createPanel();
    } else {
      this.panel.reveal();
    }
    if ((await this.previews.fetch(uri)) === null) {
      void vscode.window.showInformationMessage("podlens: there is no template at the cursor.");
    }
  }

  dispose(): void {
    this.panel?.dispose();
    this.subscription.dispose();
  }

  private send(): void {
    const request = this.uri === undefined ? undefined : requestOf(this.uri);
    if (this.panel === undefined || this.uri === undefined || this.last === undefined || request === undefined) {
      return;
    }
    const name = request.source.path.split("/").pop() ?? "";
    const message: ShowParameters = {
      type: "parameters",
      title: `Parameters of ${name}`,
      parameters: this.last.parameters,
      problems: this.last.problems,
      values: this.previews.valuesOf(this.uri),
    };
    this.panel.title = `Parameters: ${name}`;
    void this.panel.webview.postMessage(message);
  }

  private createPanel(): vscode.WebviewPanel {
    const panel = createPage(this.extension, "parameters", "Parameters", this.column(), true);
    panel.webview.onDidReceiveMessage((message: ParametersMessage) => this.handleMessage(message));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.uri = undefined;
    });
    return panel;
  }

  /** A column that does not cover the preview. */
  private column(): vscode.ViewColumn {
    const preview = vscode.window.visibleTextEditors.find((it) => it.document.uri.toString() === this.uri?.toString());
    return preview?.viewColumn === vscode.ViewColumn.One ? vscode.ViewColumn.Beside : vscode.ViewColumn.One;
  }

  private handleMessage(message: ParametersMessage): void {
    if (this.uri === undefined) {
      return;
    }
    switch (message.type) {
      case "ready":
        this.send();
        break;
      case "values":
        this.previews.setValues(this.uri, message.values);
        break;
      case "compare":
        void this.previews.compare(this.uri);
        break;
    }
  }
}
