/** Creates the webview panel of a page. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { pageHtml } from "./shared/html";

export function createPage(extension: vscode.Uri, name: string, title: string, column: vscode.ViewColumn, focus: boolean): vscode.WebviewPanel {
  const panel = vscode.window.createWebviewPanel(
    `podlens.${name}`,
    title,
    { viewColumn: column, preserveFocus: !focus },
    {
      enableScripts: true,
      enableFindWidget: true,
      retainContextWhenHidden: true,
      localResourceRoots: [vscode.Uri.joinPath(extension, "dist")],
    },
  );
  const file = (name: string): string => panel.webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", name)).toString();
  panel.iconPath = vscode.Uri.joinPath(extension, "images", "icon.png");
  panel.webview.html = pageHtml({
    title,
    script: file(`${name}.js`),
    style: file("style.css"),
    styleSource: panel.webview.cspSource,
    nonce: randomBytes(16).toString("base64"),
  });
  return panel;
}
