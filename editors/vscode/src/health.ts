/** The state of the server, shown in the language status item. */

import * as vscode from "vscode";
import { SELECTOR } from "./selector";

export interface Health {
  state: "starting" | "indexing" | "running" | "stopped" | "failed";
  /** One line: the version, the progress of the index, or the error. */
  detail: string;
}

export class HealthStatus implements vscode.Disposable {
  private readonly item = vscode.languages.createLanguageStatusItem("podlens.health", SELECTOR);
  private readonly changed = new vscode.EventEmitter<Health>();
  private health: Health = { state: "stopped", detail: "" };
  private version = "";

  readonly onDidChange = this.changed.event;

  constructor() {
    this.item.name = "podlens";
    this.item.command = { command: "podlens.showOutput", title: "Show output" };
    this.updateItem();
  }

  get current(): Health {
    return this.health;
  }

  starting(version: string): void {
    this.version = version;
    this.set({ state: "starting", detail: version });
  }

  /** The server is being restarted after a crash. */
  restarting(): void {
    this.set({ state: "starting", detail: `${this.version}, restarting after a crash` });
  }

  running(): void {
    this.set({ state: "running", detail: this.version });
  }

  indexing(detail: string): void {
    this.set({ state: "indexing", detail });
  }

  stopped(detail: string): void {
    this.set({ state: "stopped", detail });
  }

  failed(detail: string): void {
    this.set({ state: "failed", detail });
  }

  dispose(): void {
    this.item.dispose();
    this.changed.dispose();
  }

  private set(health: Health): void {
    this.health = health;
    this.updateItem();
    void vscode.commands.executeCommand("setContext", "podlens.running", ["indexing", "running"].includes(health.state));
    this.changed.fire(health);
  }

  private updateItem(): void {
    const { state, detail } = this.health;
    const icons = { starting: "", indexing: "", running: "$(check) ", stopped: "$(circle-slash) ", failed: "$(error) " };
    this.item.text = `${icons[state]}podlens`;
    this.item.detail = state === "running" ? detail.replace(/^podlens /, "version ") : [state, detail].filter((part) => part !== "").join(": ");
    this.item.busy = state === "starting" || state === "indexing";
    this.item.severity =
      state === "failed"
        ? vscode.LanguageStatusSeverity.Error
        : state === "stopped"
          ? vscode.LanguageStatusSeverity.Warning
          : vscode.LanguageStatusSeverity.Information;
    const restart = { command: "podlens.restart", title: "Restart" };
    this.item.command =
      state === "failed" || state === "stopped" ? restart : { command: "podlens.showOutput", title: "Show output" };
  }
}
