/** Connects a page with VS Code, or with a mock in tests. */

interface Host {
  postMessage(message: unknown): void;
}

declare function acquireVsCodeApi(): Host;

export const host: Host = acquireVsCodeApi();
