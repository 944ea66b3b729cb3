// Runs the unit tests (shared) and the browser tests of the pages (pages). Arguments select one of them.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const selected = process.argv.slice(2);
const names = selected.length > 0 ? selected : ["shared", "pages"];
const out = await mkdtemp(join(tmpdir(), "podlens-tests-"));
try {
  await build({
    entryPoints: names.map((name) => join(root, "test", `${name}.test.ts`)),
    outdir: out,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
  });
  const files = names.map((name) => join(out, `${name}.test.mjs`));
  const result = spawnSync(process.execPath, ["--test", `--test-reporter=${join(root, "scripts/reporter.mjs")}`, ...files], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, PODLENS_EXTENSION: root },
  });
  process.exitCode = result.status ?? 1;
} finally {
  await rm(out, { recursive: true, force: true });
}
