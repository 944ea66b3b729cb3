/** Finding the server's binary, and saying in plain words why it cannot run. No VS Code in here. */

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

export interface Binary {
  path: string;
  /** From the settings, and not the one that came with the extension. */
  configured: boolean;
}

/** Why a binary cannot run, and what to do about it. */
export class BinaryError extends Error {
  constructor(
    message: string,
    readonly remedy: string,
  ) {
    super(message);
  }
}

/** The binary of the settings, or else the bundled one. */
export function choose(configured: string, extensionPath: string, platform: string = process.platform): Binary {
  const path = configured.trim();
  if (path === "") {
    return { path: join(extensionPath, "bin", platform === "win32" ? "podlens.exe" : "podlens"), configured: false };
  }
  const expanded = path === "~" || /^~[\\/]/.test(path) ? join(homedir(), path.slice(1)) : path;
  if (!isAbsolute(expanded)) {
    throw new BinaryError(
      `The path of the server is not absolute: ${path}`,
      "Write the whole path into podlens.server.path, or leave it empty to use the server that comes with the extension.",
    );
  }
  return { path: expanded, configured: true };
}

/** Asks a binary for its version, which shows that it can be started at all. */
export async function probe(binary: Binary, timeout = 30_000): Promise<string> {
  const remedy = binary.configured
    ? "Correct podlens.server.path, or empty it to use the server that comes with the extension."
    : "Install the extension for this platform, or name a podlens binary in podlens.server.path.";
  const info = await stat(binary.path).catch(() => undefined);
  if (info === undefined) {
    throw new BinaryError(`There is no server at ${binary.path}.`, remedy);
  }
  if (!info.isFile()) {
    throw new BinaryError(`${binary.path} is not a file.`, remedy);
  }
  try {
    await access(binary.path, constants.X_OK);
  } catch {
    throw new BinaryError(`${binary.path} may not be executed.`, `Run chmod +x on it. ${remedy}`);
  }
  return new Promise((resolve, reject) => {
    execFile(binary.path, ["--version"], { timeout }, (error, stdout, stderr) => {
      const version = stdout.trim();
      if (error !== null) {
        const why = stderr.trim().split("\n")[0] || error.message;
        reject(new BinaryError(`${binary.path} does not run: ${why}`, remedy));
      } else if (!version.startsWith("podlens ")) {
        reject(new BinaryError(`${binary.path} is not podlens: it says '${version.slice(0, 60)}'.`, remedy));
      } else {
        resolve(version);
      }
    });
  });
}
