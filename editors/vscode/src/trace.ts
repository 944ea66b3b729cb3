/**
 * The output channel `podlens trace`: the messages between the editor and the server, as set in `podlens.trace.server`.
 *
 * The client library writes its trace only to a channel with log level Trace. This channel derives its level from the
 * setting, so that users do not have to set both.
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
    this.writeLine("trace", message);
  }

  debug(message: string): void {
    this.writeLine("debug", message);
  }

  info(message: string): void {
    this.writeLine("info", message);
  }

  warn(message: string): void {
    this.writeLine("warning", message);
  }

  error(error: string | Error): void {
    this.writeLine("error", String(error));
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

  private writeLine(level: string, message: string): void {
    this.channel.appendLine(`${new Date().toISOString()} [${level}] ${message}`);
  }
}
