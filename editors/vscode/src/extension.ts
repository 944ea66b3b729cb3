/** podlens for VS Code: starts the server, and puts its environment view, previews and commands in place. */

import * as vscode from "vscode";
import { registerCommands } from "./commands";
import { EnvironmentView } from "./environment";
import type { Health } from "./health";
import { ParametersForm } from "./parameters";
import { Previews } from "./previews";
import { Server } from "./server";
import type { Environment } from "./shared/protocol";

/** What other extensions may ask. */
export interface Api {
  /** How the server is. */
  health(): Health;
  /** Fires when that changes, with each step of the index too. */
  onDidChangeHealth: vscode.Event<Health>;
  /** The process of the server, if it runs. */
  serverPid(): number | undefined;
  /** What the environment view shows, if it is open. */
  environment(): Environment | undefined;
}

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<Api> {
  const running = new Server(context);
  const previews = new Previews(running);
  const form = new ParametersForm(context.extensionUri, previews);
  const environment = new EnvironmentView(context.extensionUri, running);
  server = running;
  context.subscriptions.push(running, previews, form, environment);
  registerCommands(context, { server: running, previews, form, environment });
  await running.restart();
  return {
    health: () => running.health.current,
    onDidChangeHealth: running.health.onDidChange,
    serverPid: () => running.pid,
    environment: () => environment.current,
  };
}

export async function deactivate(): Promise<void> {
  await server?.shutdown();
}
