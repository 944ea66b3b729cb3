/** Runs an action once, after a pause since the last call of `schedule`. */

import type { Disposable } from "vscode";

export class Debounce implements Disposable {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly milliseconds: number,
    private readonly action: () => void,
  ) {}

  schedule(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.action, this.milliseconds);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}
