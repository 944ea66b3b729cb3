// Starts an installed Chromium in headless mode, for screenshots and tests.
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
  const candidates = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const executablePath = candidates.find((path) => path !== undefined && existsSync(path));
  if (executablePath === undefined) {
    throw new Error("no Chromium found: install it, or set CHROMIUM to its path");
  }
  // Playwright's own signal handlers would close the browser but keep this process running.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  return chromium.launch({ executablePath, headless: true, args: FLAGS, timeout: 120_000, ...signals });
}
