/** Converts the file locations in the server's responses and opens them in an editor. */

import { isAbsolute } from "node:path";
import * as vscode from "vscode";

/** Returns the URI of `file`: a URI, an absolute path, or a path relative to the workspace folder of `document`. */
export function fileUri(file: string, document: vscode.Uri): vscode.Uri {
  if (/^[a-z][a-z0-9+.-]+:/i.test(file)) {
    return vscode.Uri.parse(file);
  }
  if (isAbsolute(file)) {
    return vscode.Uri.file(file);
  }
  const folder = vscode.workspace.getWorkspaceFolder(document)?.uri ?? vscode.Uri.joinPath(document, "..");
  return vscode.Uri.joinPath(folder, file);
}

/** Opens a file at a 1-based line and column, but not in the view column `avoid`. */
export async function openLocation(uri: vscode.Uri, line: number, column: number, avoid?: vscode.ViewColumn): Promise<void> {
  const at = new vscode.Position(Math.max(0, line - 1), Math.max(0, column - 1));
  const visible = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString());
  const viewColumn = visible?.viewColumn ?? (avoid === vscode.ViewColumn.One ? vscode.ViewColumn.Beside : vscode.ViewColumn.One);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { viewColumn, selection: new vscode.Range(at, at) });
}
