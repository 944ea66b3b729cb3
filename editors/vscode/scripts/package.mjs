// Builds a VSIX that contains the server binary, for one platform or for all:
//
//   npm run package                                      this platform, with the binary in target/release
//   npm run package -- --target win32-x64 --binary PATH  another platform, with the given binary
//   npm run package -- --all --binaries DIR              every platform, with DIR/TARGET/podlens[.exe]
//
// --out DIR sets the output directory (default: target/vsix in the repository).
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

/** The platform names of VS Code, and the Rust target for each. */
export const TARGETS = {
  "linux-x64": "x86_64-unknown-linux-gnu",
  "linux-arm64": "aarch64-unknown-linux-gnu",
  "alpine-x64": "x86_64-unknown-linux-musl",
  "alpine-arm64": "aarch64-unknown-linux-musl",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
  "win32-x64": "x86_64-pc-windows-msvc",
  "win32-arm64": "aarch64-pc-windows-msvc",
};

const run = promisify(execFile);
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const project = join(root, "../..");

const { values } = parseArgs({
  options: {
    target: { type: "string" },
    binary: { type: "string" },
    all: { type: "boolean", default: false },
    binaries: { type: "string" },
    out: { type: "string", default: join(project, "target/vsix") },
  },
});

try {
  await main();
} catch (error) {
  console.error(`package: ${error.message}`);
  process.exitCode = 1;
}

async function main() {
  const packages = values.all ? allTargets() : [oneTarget()];
  for (const { target, binary } of packages) {
    await requireFile(binary, target);
  }
  await run(process.execPath, [join(root, "scripts/build.mjs")]);
  await mkdir(values.out, { recursive: true });
  for (const { target, binary } of packages) {
    console.log(await packageFor(target, binary));
  }
}

function allTargets() {
  if (values.binaries === undefined) {
    throw new Error("--all needs --binaries DIR with DIR/TARGET/podlens for each target");
  }
  return Object.keys(TARGETS).map((target) => ({
    target,
    binary: join(resolve(values.binaries), target, binaryName(target)),
  }));
}

function oneTarget() {
  const current = `${process.platform}-${process.arch}`;
  const target = values.target ?? current;
  if (!(target in TARGETS)) {
    throw new Error(`unknown target '${target}': expected one of ${Object.keys(TARGETS).join(", ")}`);
  }
  if (values.binary !== undefined) {
    return { target, binary: resolve(values.binary) };
  }
  if (target !== current) {
    throw new Error(`--target ${target} needs --binary PATH: a binary built for ${TARGETS[target]}`);
  }
  return { target, binary: join(project, "target/release", binaryName(target)) };
}

function binaryName(target) {
  return target.startsWith("win32") ? "podlens.exe" : "podlens";
}

async function requireFile(binary, target) {
  const info = await stat(binary).catch(() => undefined);
  if (!info?.isFile()) {
    throw new Error(`no binary for ${target} at ${binary}: build it with cargo build --release, or pass its path with --binary`);
  }
}

/** Each package is built in a separate directory, so that it contains only its own binary. */
async function packageFor(target, binary) {
  const out = join(resolve(values.out), `podlens-${target}.vsix`);
  const stage = join(resolve(values.out), `stage-${target}`);
  await rm(stage, { recursive: true, force: true });
  await mkdir(join(stage, "bin"), { recursive: true });
  for (const part of ["package.json", "README.md", "CHANGELOG.md", "dist", "images", "walkthrough", ".vscodeignore"]) {
    await cp(join(root, part), join(stage, part), { recursive: true });
  }
  await cp(join(project, "LICENSE"), join(stage, "LICENSE"));
  const copy = join(stage, "bin", binaryName(target));
  await cp(binary, copy);
  await chmod(copy, 0o755);
  try {
    const vsce = createRequire(import.meta.url).resolve("@vscode/vsce/vsce");
    const flags = ["--no-dependencies", "--no-rewrite-relative-links", "--target", target];
    await run(process.execPath, [vsce, "package", ...flags, "--out", out], { cwd: stage, maxBuffer: 1 << 26 });
  } catch (error) {
    throw new Error(`vsce failed for ${target}:\n${error.stdout ?? ""}${error.stderr ?? error.message}`);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
  return out;
}
