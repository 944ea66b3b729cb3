/** Entry point: starts the server and registers the environment view, the previews and the commands. */

import * as vscode from "vscode";
import { registerCommands } from "./commands";
import { EnvironmentView } from "./environment";
import type { Health } from "./health";
import { ParametersForm } from "./parameters";
import { Previews } from "./previews";
import { Server } from "./server";
import type { Environment } from "./shared/protocol";

/** The API for other extensions and for tests. */
export interface Api {
  /** The state of the server. */
  health(): Health;
  /** Fires when the state changes, and for each progress report of the index. */
  onDidChangeHealth: vscode.Event<Health>;
  /** The process id of the server, if it is running. */
  serverPid(): number | undefined;
  /** The environment that the environment view shows, if it is open. */
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
