// Starts the Chromium of this machine, without a window, for pictures and tests.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function browser() {
  const names = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const executablePath = names.find((name) => name !== undefined && existsSync(name));
  if (executablePath === undefined) {
    throw new Error("no Chromium found: install one, or name it in CHROMIUM");
  }
  // Without Playwright's own handlers, which close the browser at a signal and keep the process running.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  return chromium.launch({ executablePath, headless: true, args: FLAGS, timeout: 120_000, ...signals });
}
