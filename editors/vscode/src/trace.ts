/**
 * The output `podlens trace`: what the editor and the server tell each other, as much as `podlens.trace.server` says.
 *
 * The client library writes its trace only to an output whose level is Trace, which a user would have to set apart from
 * the setting. Here the setting is the level.
 */

import * as vscode from "vscode";

export class TraceOutput implements vscode.LogOutputChannel {
  readonly name = "podlens trace";
  private readonly channel = vscode.window.createOutputChannel(this.name);
  private readonly levelChanged = new vscode.EventEmitter<vscode.LogLevel>();
  private readonly subscription: vscode.Disposable;

  readonly onDidChangeLogLevel = this.levelChanged.event;

  constructor() {
    this.subscription = vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("podlens.trace.server")) {
        this.levelChanged.fire(this.logLevel);
      }
    });
  }

  get logLevel(): vscode.LogLevel {
    const setting = vscode.workspace.getConfiguration("podlens").get("trace.server", "off");
    return setting === "off" ? vscode.LogLevel.Info : vscode.LogLevel.Trace;
  }

  trace(message: string): void {
    this.line("trace", message);
  }

  debug(message: string): void {
    this.line("debug", message);
  }

  info(message: string): void {
    this.line("info", message);
  }

  warn(message: string): void {
    this.line("warning", message);
  }

  error(error: string | Error): void {
    this.line("error", String(error));
  }

  append(text: string): void {
    this.channel.append(text);
  }

  appendLine(text: string): void {
    this.channel.appendLine(text);
  }

  replace(text: string): void {
    this.channel.replace(text);
  }

  clear(): void {
    this.channel.clear();
  }

  show(): void {
    this.channel.show(true);
  }

  hide(): void {
    this.channel.hide();
  }

  dispose(): void {
    this.subscription.dispose();
    this.levelChanged.dispose();
    this.channel.dispose();
  }

  private line(level: string, message: string): void {
    this.channel.appendLine(`${new Date().toISOString()} [${level}] ${message}`);
  }
}
