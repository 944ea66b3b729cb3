/** Places in files, as the server names them and as VS Code wants them. */

import { isAbsolute } from "node:path";
import * as vscode from "vscode";

/** A file of an answer: a URI, an absolute path, or a path from the workspace folder of the document asked about. */
export function fileUri(file: string, beside: vscode.Uri): vscode.Uri {
  if (/^[a-z][a-z0-9+.-]+:/i.test(file)) {
    return vscode.Uri.parse(file);
  }
  if (isAbsolute(file)) {
    return vscode.Uri.file(file);
  }
  const folder = vscode.workspace.getWorkspaceFolder(beside)?.uri ?? vscode.Uri.joinPath(beside, "..");
  return vscode.Uri.joinPath(folder, file);
}

/** Opens a line of a file, away from the column of a page. */
export async function openPlace(uri: vscode.Uri, line: number, column: number, not?: vscode.ViewColumn): Promise<void> {
  const at = new vscode.Position(Math.max(0, line - 1), Math.max(0, column - 1));
  const visible = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString());
  const viewColumn = visible?.viewColumn ?? (not === vscode.ViewColumn.One ? vscode.ViewColumn.Beside : vscode.ViewColumn.One);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { viewColumn, selection: new vscode.Range(at, at) });
}
