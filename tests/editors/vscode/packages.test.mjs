// Tests the contents of the VSIX for this platform, and that a VSIX is built for every platform.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { extension, vsix, work } from "./workbench.mjs";

const TARGETS = ["alpine-arm64", "alpine-x64", "darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64", "win32-arm64", "win32-x64"];
// The zip library of vsce.
const packager = createRequire(createRequire(join(extension, "package.json")).resolve("@vscode/vsce"));
const yauzl = packager("yauzl");

// Returns the files of a VSIX with their modes and contents.
function contents(file) {
  return new Promise((resolve, reject) => {
    const files = new Map();
    yauzl.open(file, { lazyEntries: true }, (error, zip) => {
      if (error) {
        reject(error);
        return;
      }
      zip.on("error", reject);
      zip.on("end", () => resolve(files));
      zip.on("entry", (entry) => {
        zip.openReadStream(entry, async (problem, stream) => {
          if (problem) {
            reject(problem);
            return;
          }
          const pieces = [];
          for await (const piece of stream) pieces.push(piece);
          files.set(entry.fileName, { mode: (entry.externalFileAttributes >>> 16) & 0o777, bytes: Buffer.concat(pieces) });
          zip.readEntry();
        });
      });
      zip.readEntry();
    });
  });
}

test("the package contains exactly the expected files", async () => {
  const files = await contents(vsix);
  assert.deepEqual([...files.keys()].sort(), [
    "[Content_Types].xml",
    "extension.vsixmanifest",
    "extension/LICENSE.txt",
    "extension/bin/podlens",
    "extension/changelog.md",
    "extension/dist/environment.js",
    "extension/dist/extension.js",
    "extension/dist/parameters.js",
    "extension/dist/podlens.schema.json",
    "extension/dist/style.css",
    "extension/images/diagnostics.png",
    "extension/images/environment.png",
    "extension/images/icon.png",
    "extension/images/preview.png",
    "extension/package.json",
    "extension/readme.md",
    "extension/walkthrough/settings.md",
  ]);
  assert.equal(files.get("extension/bin/podlens").mode & 0o111, 0o111);
  assert(files.get("extension/bin/podlens").bytes.equals(readFileSync(process.env.PODLENS)));
  const manifest = files.get("extension.vsixmanifest").bytes.toString();
  assert.match(manifest, new RegExp(`TargetPlatform="${process.platform}-${process.arch}"`));
  const { version } = JSON.parse(files.get("extension/package.json").bytes.toString());
  assert.match(files.get("extension/changelog.md").bytes.toString(), new RegExp(`^## ${version.replaceAll(".", "\\.")}$`, "m"));
});

test("every referenced image is in the package", async () => {
  const files = await contents(vsix);
  const text = ["readme.md", "package.json", "walkthrough/settings.md"].map((name) => files.get(`extension/${name}`).bytes.toString()).join("\n");
  const images = [...text.matchAll(/images\/[\w-]+\.\w+/g)].map(([name]) => name);
  assert(images.length >= 6, images.join(" "));
  for (const name of images) {
    const image = files.get(`extension/${name}`);
    assert(image !== undefined, name);
    assert.equal(image.bytes.toString("latin1", 1, 4), "PNG", name);
  }
});

test("one script builds the packages of all platforms", async () => {
  const binaries = join(work, "binaries");
  for (const target of TARGETS) {
    const file = join(binaries, target, target.startsWith("win32") ? "podlens.exe" : "podlens");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `placeholder for ${target}`);
  }
  const out = join(work, "all");
  execFileSync("npm", ["run", "--silent", "package", "--", "--all", "--binaries", binaries, "--out", out], { cwd: extension, stdio: ["ignore", "ignore", "inherit"] });
  for (const target of TARGETS) {
    const files = await contents(join(out, `podlens-${target}.vsix`));
    assert.match(files.get("extension.vsixmanifest").bytes.toString(), new RegExp(`TargetPlatform="${target}"`));
    const name = target.startsWith("win32") ? "podlens.exe" : "podlens";
    assert.deepEqual([...files.keys()].filter((it) => it.startsWith("extension/bin/")), [`extension/bin/${name}`]);
    const binary = files.get(`extension/bin/${name}`);
    assert.equal(binary.bytes.toString(), `placeholder for ${target}`);
    assert.equal(binary.mode & 0o111, 0o111);
  }
});

test("a platform without a binary is reported with the solution", () => {
  const run = (...flags) => {
    try {
      execFileSync(process.execPath, [join(extension, "scripts/package.mjs"), ...flags], { stdio: "pipe" });
    } catch (error) {
      return error.stderr.toString();
    }
    return "";
  };
  assert.match(run("--target", "beos-x64"), /unknown target 'beos-x64': expected one of linux-x64/);
  assert.match(run("--target", "win32-arm64"), /needs --binary PATH: a binary built for aarch64-pc-windows-msvc/);
  assert.match(run("--target", "win32-arm64", "--binary", "/nowhere/podlens.exe"), /no binary for win32-arm64 at \/nowhere/);
  assert.match(run("--all"), /--all needs --binaries DIR/);
});
