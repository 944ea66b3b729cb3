/** Waits until things have been quiet for a while, then acts once. */

import type { Disposable } from "vscode";

export class Quiet implements Disposable {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly milliseconds: number,
    private readonly act: () => void,
  ) {}

  touch(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.act, this.milliseconds);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}
