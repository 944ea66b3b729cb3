// Converts images/icon.svg to images/icon.png, which the marketplace requires.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { browser } from "./browser.mjs";

const images = join(dirname(fileURLToPath(import.meta.url)), "../images");
const chromium = await browser();
const page = await chromium.newPage({ viewport: { width: 256, height: 256 } });
await page.setContent(`<style>body{margin:0}svg{display:block}</style>${await readFile(join(images, "icon.svg"), "utf8")}`);
await page.screenshot({ path: join(images, "icon.png"), omitBackground: true });
await chromium.close();
