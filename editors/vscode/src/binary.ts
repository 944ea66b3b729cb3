/** Finds the server binary and explains why it cannot run. Does not use the VS Code API. */

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

export interface Binary {
  path: string;
  /** Whether the path comes from the settings; otherwise it is the bundled binary. */
  configured: boolean;
}

/** Why a binary cannot run, and how to fix it. */
export class BinaryError extends Error {
  constructor(
    message: string,
    readonly remedy: string,
  ) {
    super(message);
  }
}

/** Returns the binary named in the settings, or the bundled one. */
export function chooseBinary(configured: string, extensionPath: string, platform: string = process.platform): Binary {
  const path = configured.trim();
  if (path === "") {
    return { path: join(extensionPath, "bin", platform === "win32" ? "podlens.exe" : "podlens"), configured: false };
  }
  const expanded = path === "~" || /^~[\\/]/.test(path) ? join(homedir(), path.slice(1)) : path;
  if (!isAbsolute(expanded)) {
    throw new BinaryError(
      `The server path is not absolute: ${path}`,
      "Set podlens.server.path to an absolute path, or leave it empty to use the bundled server.",
    );
  }
  return { path: expanded, configured: true };
}

/** Runs `--version` to check that the binary can be started; returns the version. */
export async function checkBinary(binary: Binary, timeout = 30_000): Promise<string> {
  const remedy = binary.configured
    ? "Correct podlens.server.path, or clear it to use the bundled server."
    : "Install the extension for this platform, or set podlens.server.path to a podlens binary.";
  const info = await stat(binary.path).catch(() => undefined);
  if (info === undefined) {
    throw new BinaryError(`${binary.path} does not exist.`, remedy);
  }
  if (!info.isFile()) {
    throw new BinaryError(`${binary.path} is not a file.`, remedy);
  }
  try {
    await access(binary.path, constants.X_OK);
  } catch {
    throw new BinaryError(`${binary.path} is not executable.`, `Run chmod +x on it. ${remedy}`);
  }
  return new Promise((resolve, reject) => {
    execFile(binary.path, ["--version"], { timeout }, (error, stdout, stderr) => {
      const version = stdout.trim();
      if (error !== null) {
        const reason = stderr.trim().split("\n")[0] || error.message;
        reject(new BinaryError(`${binary.path} cannot be started: ${reason}`, remedy));
      } else if (!version.startsWith("podlens ")) {
        reject(new BinaryError(`${binary.path} is not podlens: --version prints '${version.slice(0, 60)}'.`, remedy));
      } else {
        resolve(version);
      }
    });
  });
}
