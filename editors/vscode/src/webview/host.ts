/** The other end of a page: VS Code, or whatever stands in for it in a test. */

interface Host {
  postMessage(message: unknown): void;
}

declare function acquireVsCodeApi(): Host;

export const host: Host = acquireVsCodeApi();
