/**
 * Starts and stops the server, restarts it on command and after a crash, and reports why it cannot start.
 *
 * Starts and stops are queued, so that two restarts never overlap.
 */

import { type ChildProcess, spawn } from "node:child_process";
import * as vscode from "vscode";
import {
  CloseAction,
  type CloseHandlerResult,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  ResponseError,
  State,
} from "vscode-languageclient/node";
import { type Binary, BinaryError, checkBinary, chooseBinary } from "./binary";
import { HealthStatus } from "./health";
import { SELECTOR } from "./selector";
import { sectionOf, serverSettings } from "./settings";
import { TraceOutput } from "./trace";

/** After this many crashes within `CRASH_WINDOW` milliseconds, the server is not restarted automatically. */
const MAX_CRASHES = 5;
const CRASH_WINDOW = 180_000;

export class Server implements vscode.Disposable {
  readonly output = vscode.window.createOutputChannel("podlens", { log: true });
  readonly trace = new TraceOutput();
  readonly health = new HealthStatus();
  private readonly changed = new vscode.EventEmitter<void>();
  private client: LanguageClient | undefined;
  private process: ChildProcess | undefined;
  private crashes: number[] = [];
  private queue: Promise<void> = Promise.resolve();

  /** Fires when responses of the server may have changed without an edit: it is ready, it has read the workspace, or files
   * or settings have changed. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly context: vscode.ExtensionContext) {
    context.subscriptions.push(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("podlens.server")) {
          void this.restart();
        } else if (event.affectsConfiguration("podlens") && !event.affectsConfiguration("podlens.trace")) {
          this.sendSettings();
        }
      }),
    );
  }

  /** The process id of the server, if it is running. */
  get pid(): number | undefined {
    return this.process?.pid;
  }

  restart(): Promise<void> {
    this.queue = this.queue.then(async () => {
      await this.stop();
      await this.start();
    });
    return this.queue;
  }

  /** Sends a request; returns null if the server is not running or answers with an error. */
  async request<R>(method: string, params: object): Promise<R | null> {
    for (let tries = 0; tries < 50; tries += 1) {
      try {
        return (await this.running?.sendRequest<R | null>(method, params)) ?? null;
      } catch (error) {
        // ContentModified or ServerCancelled: the text changed during the request, so it is sent again.
        const isOutdated = error instanceof ResponseError && [-32801, -32802].includes(error.code);
        if (!isOutdated) {
          this.output.warn(`${method}: ${String(error)}`);
          return null;
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    this.output.warn(`${method}: gave up: the text changed during every attempt`);
    return null;
  }

  async shutdown(): Promise<void> {
    this.queue = this.queue.then(() => this.stop());
    await this.queue;
  }

  dispose(): void {
    this.changed.dispose();
    this.health.dispose();
    this.output.dispose();
    this.trace.dispose();
  }

  private sendSettings(): void {
    const settings = { podlens: serverSettings(this.context.extension) };
    // A server that is not running yet gets the settings when it starts.
    this.running?.sendNotification("workspace/didChangeConfiguration", { settings }).catch((error: unknown) => {
      this.output.warn(`The settings could not be sent to the server: ${String(error)}`);
    });
  }

  private get running(): LanguageClient | undefined {
    return this.client?.state === State.Running ? this.client : undefined;
  }

  private async start(): Promise<void> {
    const settings = vscode.workspace.getConfiguration("podlens.server");
    try {
      const binary = chooseBinary(settings.get("path", ""), this.context.extensionPath);
      const version = await checkBinary(binary);
      this.output.info(`${version} at ${binary.path}`);
      this.health.starting(version);
      this.crashes = [];
      this.client = this.createClient(binary, settings.get<Record<string, string>>("extraEnv", {}));
      await this.client.start();
    } catch (error) {
      this.showFailure(error instanceof BinaryError ? error : new BinaryError(`The server did not start: ${String(error)}`, "See the output for details."));
    }
  }

  private async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      await client?.dispose(5000);
    } catch (error) {
      this.output.warn(`The server did not stop cleanly: ${String(error)}`);
    }
    this.process?.kill();
    this.process = undefined;
    this.health.stopped("");
  }

  private createClient(binary: Binary, extraEnv: Record<string, string>): LanguageClient {
    const options: LanguageClientOptions = {
      documentSelector: SELECTOR,
      outputChannel: this.output,
      traceOutputChannel: this.trace,
      initializationOptions: serverSettings(this.context.extension),
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => this.handleClosed(client),
      },
      middleware: {
        workspace: {
          // `sendSettings` sends changed settings. The library would also send them to a server that is being stopped,
          // and show the resulting error.
          didChangeConfiguration: () => Promise.resolve(),
          configuration: async (params, token, next) => {
            const results = await next(params, token);
            return params.items.map((item, index) => {
              const section = item.section ?? "";
              if (section === "podlens" || section.startsWith("podlens.")) {
                const scope = item.scopeUri === undefined ? undefined : vscode.Uri.parse(item.scopeUri);
                return sectionOf(serverSettings(this.context.extension, scope), section);
              }
              return Array.isArray(results) ? results[index] : null;
            });
          },
        },
        // VS Code requests code lenses again after a refresh request of the server.
        provideCodeLenses: async (document, token, next) => {
          const lenses = await next(document, token);
          this.changed.fire();
          return lenses;
        },
        handleWorkDoneProgress: (token, params, next) => {
          if (this.client !== client) {
            return;
          }
          if (params.kind === "end") {
            this.health.running();
            this.changed.fire();
          } else {
            const parts = [params.kind === "begin" ? params.title : undefined, params.message];
            const percentage = params.percentage === undefined ? undefined : `${params.percentage} %`;
            this.health.indexing([...parts, percentage].filter((part) => part).join(" "));
          }
          next(token, params);
        },
      },
    };
    const start = (): Promise<ChildProcess> => this.spawn(binary, extraEnv);
    const client: LanguageClient = new LanguageClient("podlens", "podlens", start, options);
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running && this.client === client) {
        this.health.running();
        this.changed.fire();
      }
    });
    return client;
  }

  private spawn(binary: Binary, extraEnv: Record<string, string>): Promise<ChildProcess> {
    const child = spawn(binary.path, ["lsp"], { env: { ...process.env, ...extraEnv }, stdio: "pipe" });
    this.process = child;
    return new Promise((resolve, reject) => {
      child.once("spawn", () => resolve(child));
      child.once("error", reject);
      child.once("exit", (code, signal) => {
        this.output.info(`The server exited with ${signal ?? `code ${code}`}`);
        if (this.process === child) {
          this.process = undefined;
        }
      });
    });
  }

  /** Restarts a server that has crashed, unless it has crashed too often. */
  private handleClosed(client: LanguageClient): CloseHandlerResult {
    if (this.client !== client) {
      return { action: CloseAction.DoNotRestart, handled: true };
    }
    const now = Date.now();
    this.crashes = [...this.crashes.filter((at) => now - at < CRASH_WINDOW), now];
    if (this.crashes.length < MAX_CRASHES) {
      this.health.restarting();
      return { action: CloseAction.Restart, handled: true };
    }
    this.showFailure(new BinaryError(`The server crashed ${MAX_CRASHES} times in three minutes.`, "See the output for details."));
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private showFailure(error: BinaryError): void {
    this.output.error(`${error.message} ${error.remedy}`);
    this.health.failed(error.message);
    const [settings, output, restart] = ["Open Settings", "Show Output", "Restart"];
    void vscode.window
      .showErrorMessage(`podlens: ${error.message} ${error.remedy}`, settings, output, restart)
      .then((chosen) => {
        if (chosen === settings) {
          void vscode.commands.executeCommand("workbench.action.openSettings", "podlens.server.path");
        } else if (chosen === output) {
          this.output.show();
        } else if (chosen === restart) {
          void this.restart();
        }
      });
  }
}
