// Bundles the extension and its pages into dist/, and copies the schema of podlens.yaml there.
import { build } from "esbuild";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const common = { bundle: true, minify: true, legalComments: "none", logLevel: "warning", absWorkingDir: root };

await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
await Promise.all([
  build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode"],
  }),
  build({
    ...common,
    entryPoints: ["src/webview/environment.ts", "src/webview/parameters.ts", "src/webview/style.css"],
    outdir: "dist",
    platform: "browser",
    format: "iife",
    target: "es2022",
  }),
  copyFile(join(root, "../podlens.schema.json"), join(dist, "podlens.schema.json")),
]);
