/**
 * Tests of the two pages in a real browser: content, messages to the extension, and accessibility.
 *
 * The built pages run with the same content security policy as in VS Code. A mock of VS Code collects their messages.
 */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { pageHtml } from "../src/shared/html";
import type { Environment, Problem, Values } from "../src/shared/protocol";
import { PARAMETERS, PASSWORD, container, crowded, sample } from "./samples";
import { THEMES } from "./themes";

const ROOT = process.env["PODLENS_EXTENSION"] ?? process.cwd();
const SCREENSHOTS = process.env["PODLENS_SCREENSHOTS"] ?? join(ROOT, "../../target/editors/pages");
const ORIGIN = "http://pages.invalid";

let browser: Browser;
let page: Page;
let foreignRequests: string[];
let pageErrors: string[];

before(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  // Imported by path and not bundled, so that Playwright finds its own files.
  const { browser: start } = (await import(join(ROOT, "scripts/browser.mjs"))) as { browser: () => Promise<Browser> };
  browser = await start();
});
after(() => browser.close());
beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 760, height: 1000 } });
  page.setDefaultTimeout(60_000);
  foreignRequests = [];
  pageErrors = [];
  page.on("pageerror", (error) => pageErrors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && pageErrors.push(message.text()));
});
afterEach(async () => {
  await page.close();
  assert.deepEqual(foreignRequests, [], "a page requested a foreign resource");
  assert.deepEqual(pageErrors, [], "a page reported errors");
});

/** Opens a page as VS Code does. */
async function open(name: "environment" | "parameters", theme = "dark"): Promise<void> {
  const colours = Object.entries(THEMES[theme] ?? {}).map(([key, value]) => `--vscode-${key}: ${value};`);
  const files: Record<string, { contentType: string; body: string }> = {
    "/": {
      contentType: "text/html",
      body: pageHtml({ title: name, script: `${name}.js`, style: "style.css", styleSource: ORIGIN, nonce: "n" }),
    },
    [`/${name}.js`]: { contentType: "text/javascript", body: readFileSync(join(ROOT, "dist", `${name}.js`), "utf8") },
    "/style.css": {
      contentType: "text/css",
      body: `:root { ${colours.join(" ")} }\n${readFileSync(join(ROOT, "dist/style.css"), "utf8")}`,
    },
  };
  await page.route("**/*", async (route) => {
    const url = route.request().url();
    const file = url.startsWith(`${ORIGIN}/`) ? files[url.slice(ORIGIN.length)] : undefined;
    if (file !== undefined) {
      await route.fulfill(file);
    } else if (url.endsWith("/favicon.ico")) {
      await route.fulfill({ status: 204 });
    } else {
      foreignRequests.push(url);
      await route.abort();
    }
  });
  await page.addInitScript(() => {
    const sent: unknown[] = [];
    Object.assign(window, { sent, acquireVsCodeApi: () => ({ postMessage: (message: unknown) => sent.push(message) }) });
  });
  await page.goto(`${ORIGIN}/`);
  assert.deepEqual(await sent(), [{ type: "ready" }]);
}

async function sent(): Promise<unknown[]> {
  return page.evaluate(() => (window as unknown as { sent: unknown[] }).sent);
}

/** Waits until `count` messages were sent. The content security policy blocks Playwright's own `waitForFunction`. */
async function untilSent(count: number): Promise<void> {
  for (const end = Date.now() + 60_000; (await sent()).length < count; ) {
    assert(Date.now() < end, `fewer than ${count} messages were sent`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function lastSent(): Promise<unknown> {
  return (await sent()).at(-1);
}

async function post(message: unknown): Promise<void> {
  await page.evaluate((data) => window.dispatchEvent(new MessageEvent("message", { data })), message);
}

async function show(environment: Environment | null): Promise<void> {
  await post({ type: "environment", environment });
}

async function showForm(problems: Problem[] = [], values: Values = {}): Promise<void> {
  await post({ type: "parameters", title: "Parameters of shop.yaml", parameters: PARAMETERS, problems, values });
}

/** The accessibility violations that axe finds. */
async function violations(): Promise<string[]> {
  await page.evaluate(readFileSync(join(ROOT, "node_modules/axe-core/axe.min.js"), "utf8"));
  return page.evaluate(async () => {
    type Axe = { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    const found = await (window as unknown as { axe: Axe }).axe.run();
    return found.violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.html).join(" ")}`);
  });
}

const names = (): Promise<string[]> => page.locator("tbody th code").allTextContents();

describe("the environment page", () => {
  test("tells the user what to do when there is no container", async () => {
    await open("environment");
    await show(null);
    assert.match((await page.textContent("#content")) ?? "", /Place the cursor inside a container/);
    assert(!(await page.isVisible("#search")));
    assert.deepEqual(await violations(), []);
  });

  test("shows failures first, then unresolved references, unknown variables and the others", async () => {
    await open("environment");
    await show(sample(false));
    assert.equal(await page.textContent("h1"), "Deployment/web container main");
    const headings = await page.locator("h2, summary").allTextContents();
    assert.deepEqual(headings, [
      "The container does not start",
      "Unresolved (1)",
      "Presets",
      "Variables",
      "Service variables (1)",
      "Unknown sources",
      "Commands and paths",
      "References between variables",
    ]);
    assert.match((await page.textContent(".failures")) ?? "", /does not start.*DB_USER: its key does not exist.*HOME: a sub path/);
    assert.equal(await page.locator(".unresolved li").count(), 1, "a failure is shown once");
    assert.match((await page.textContent(".opaque")) ?? "", /config map shop-conifg may add variables SHOP_\*: not in these files/);
    assert.match((await page.textContent(".unresolved")) ?? "", /\$\(VISITOR\) is not expanded: nothing defines it/);
    assert.deepEqual(await names(), ["REGION", "CACHE_URL", "DB_PASSWORD", "EMPTY", "HTML", "LOG_LEVEL", "URL", "CACHE_SERVICE_HOST"]);
    assert.equal(await page.textContent("#count"), "7 variables, 1 from services");
    const region = (await page.textContent("#variable-REGION")) ?? "";
    assert.match(region, /one of several.*eu config map region\/REGION web\.yaml:3.*us/s);
    assert.match((await page.textContent("#variable-LOG_LEVEL")) ?? "", /hides config map settings\/LOG_LEVEL web\.yaml:7/);
    assert.match((await page.textContent("#variable-CACHE_URL")) ?? "", /<cluster IP of cache>.*from http:\/\/\$\(CACHE_SERVICE_HOST\)/);
    assert.match((await page.textContent("section:has(> h2:text('Presets'))")) ?? "", /proxy is not applied .*env PORT conflicts with web\.yaml:30/);
  });

  test("shows markup in a manifest as text", async () => {
    await open("environment");
    await show(sample(false));
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await page.textContent("#variable-HTML .value"), "<img src=x onerror=alert(1)>");
  });

  test("opens sources with keyboard and mouse", async () => {
    await open("environment");
    await show(sample(false));
    await page.locator("#variable-DB_PASSWORD a").focus();
    await page.keyboard.press("Enter");
    assert.deepEqual(await lastSent(), { type: "open", file: "shop/web.yaml", line: 4 });
    await page.locator(".unresolved a").click();
    assert.deepEqual(await lastSent(), { type: "open", file: "shop/web.yaml", line: 41, column: 15 });
  });

  test("searches while typing, and Escape clears the search", async () => {
    await open("environment");
    await show(sample(false));
    await page.keyboard.press("/");
    await page.keyboard.type("cache");
    assert.deepEqual(await names(), ["CACHE_URL", "URL", "CACHE_SERVICE_HOST"]);
    assert.equal(await page.textContent("#count"), "3 of 8 variables");
    // A closed section with a match is opened.
    assert(await page.isVisible("#variable-CACHE_SERVICE_HOST"));
    await show(sample(false));
    assert.equal(await page.evaluate(() => document.activeElement?.id), "search");
    await page.keyboard.press("Escape");
    const all = await names();
    assert.equal(all.length, 8, all.join(", "));
    await page.keyboard.type("no such name");
    assert.match((await page.textContent("#content")) ?? "", /No variable matches the search/);
  });

  test("masks secrets until they are revealed, and again for another container", async () => {
    await open("environment");
    await show(sample(true));
    assert(!(await page.content()).includes(PASSWORD));
    await page.click("#copy");
    assert(!JSON.stringify(await lastSent()).includes(PASSWORD));
    assert.equal(await page.getAttribute("#reveal", "aria-pressed"), "false");
    await page.click("#reveal");
    assert.equal(await page.textContent("#variable-DB_PASSWORD .value"), PASSWORD);
    await page.click("#copy");
    assert(JSON.stringify(await lastSent()).includes(`DB_PASSWORD='${PASSWORD}'`));
    await show(sample(true, "other"));
    assert(!(await page.content()).includes(PASSWORD));
  });

  test("explains why secrets cannot be revealed", async () => {
    await open("environment");
    await show(sample(false));
    assert(await page.isDisabled("#reveal"));
    assert.match((await page.getAttribute("#reveal", "title")) ?? "", /secrets\.show/);
  });

  test("copies known variables as dotenv", async () => {
    await open("environment");
    await show(sample(false));
    await page.click("#copy");
    const message = (await lastSent()) as { type: string; text: string; count: number };
    assert.equal(message.type, "copy");
    assert.equal(message.count, 3);
    assert.match(message.text, /^LOG_LEVEL='debug'$/m);
    assert.match(message.text, /^# URL: /m);
    assert.equal(await page.textContent("#copy"), "Copied");
  });

  test("collapses a long value and expands it on demand", async () => {
    await open("environment");
    await show(crowded(10));
    const height = async (): Promise<number> => (await page.locator("#variable-CERTIFICATE .value").boundingBox())?.height ?? 0;
    const collapsed = await height();
    assert(collapsed < 160, `${collapsed} px`);
    assert.equal(await page.textContent("#more-CERTIFICATE"), "Show all 40 lines");
    assert.match((await page.textContent("#more-LINK")) ?? "", /^Show all \d+ characters$/);
    assert.equal(await page.locator("#more-SETTING_001").count(), 0);
    await page.focus("#more-CERTIFICATE");
    await page.keyboard.press("Enter");
    assert((await height()) > 500);
    // An update keeps the value expanded and the focus unchanged.
    await show(crowded(10));
    assert((await height()) > 500);
    assert.equal(await page.evaluate(() => document.activeElement?.id), "more-CERTIFICATE");
    await page.keyboard.press("Enter");
    assert.equal(await height(), collapsed);
    assert.equal(await page.textContent("#more-args-0"), "Show all 40 lines");
  });

  test("shows that a container has no variables", async () => {
    await open("environment");
    const empty = sample(false);
    const workload = empty.workloads[0];
    assert(workload !== undefined);
    workload.containers = [container()];
    workload.presets = [];
    await show(empty);
    assert.match((await page.textContent("#content")) ?? "", /This container has no variables/);
    assert(!(await page.isVisible("#search")));
    assert.deepEqual(await violations(), []);
    await page.screenshot({ path: join(SCREENSHOTS, "environment-empty.png") });
  });

  test("searches hundreds of variables while typing", async () => {
    await open("environment");
    await show(crowded(800));
    assert.equal(await page.textContent("#count"), "815 variables, 140 from services");
    await page.keyboard.press("/");
    await page.keyboard.type("setting_79");
    const found = await names();
    assert.equal(found.length, 10, found.join(", "));
    assert.equal(await page.inputValue("#search"), "setting_79");
  });

  test("has no horizontal scroll bar at any width", async () => {
    await open("environment");
    for (const width of [260, 420, 700, 1400]) {
      await page.setViewportSize({ width, height: 900 });
      await show(crowded(10));
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(overflow, 0, `at ${width} px`);
      assert.deepEqual(await violations(), [], `at ${width} px`);
      await page.screenshot({ path: join(SCREENSHOTS, `environment-${width}.png`), fullPage: true });
    }
  });

  test("can be used with the keyboard alone", async () => {
    await open("environment");
    await show(sample(true));
    const reached: string[] = [];
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(() => {
        const { id, tagName, textContent } = document.activeElement ?? {};
        return id || `${tagName} ${textContent}`;
      });
      if (at.startsWith("BODY")) break;
      reached.push(at);
    }
    assert.deepEqual(reached.slice(0, 5), ["A web.yaml:1", "search", "copy", "reveal", "A web.yaml:33"]);
    for (const id of ["summary-services", "summary-graph", "node-CACHE_URL", "node-URL"]) {
      assert(reached.includes(id), `${id} is not among ${reached.join(", ")}`);
    }
    // The focus is visible.
    await page.focus("#copy");
    await page.keyboard.press("Tab");
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
    assert.equal(outline, "solid");
  });

  test("shows the reference graph, and a node links to its variable", async () => {
    await open("environment");
    await show(sample(false));
    const edges = await page.locator(".edge").evaluateAll((all) => all.map((it) => it.getAttribute("data-edge")));
    assert(edges.includes("CACHE_URL → URL"));
    assert(edges.includes("URL → args"));
    await page.locator("#node-CACHE_SERVICE_HOST").focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "variable-CACHE_SERVICE_HOST");
    assert(await page.isVisible("#variable-CACHE_SERVICE_HOST"));
  });

  for (const theme of Object.keys(THEMES)) {
    test(`has no accessibility violations in the ${theme} theme`, async () => {
      await open("environment", theme);
      await show(sample(true));
      await page.click("#summary-services");
      await page.click("#reveal");
      assert.deepEqual(await violations(), []);
      await page.screenshot({ path: join(SCREENSHOTS, `environment-${theme}.png`), fullPage: true });
    });
  }
});

describe("the parameter form", () => {
  test("has a field for each parameter", async () => {
    await open("parameters");
    await showForm();
    assert.equal(await page.textContent("h1"), "Parameters of shop.yaml");
    assert.match((await page.textContent("label[for=field-APP_NAME]")) ?? "", /Name of the application.*APP_NAME.*required/);
    assert.equal(await page.inputValue("#field-APP_NAME"), "shop");
    assert.equal(await page.getAttribute("#field-APP_NAME", "aria-describedby"), "about-APP_NAME default-APP_NAME problem-APP_NAME");
    assert.equal(await page.getAttribute("#field-REPLICAS", "inputmode"), "numeric");
    assert.match((await page.textContent("label[for=field-DEBUG]")) ?? "", /bool/);
    assert.deepEqual(await page.locator("#field-DEBUG option").allTextContents(), ["true", "false"]);
    assert.equal(await page.getAttribute("#field-PASSWORD", "placeholder"), "generated from [a-zA-Z0-9]{16}");
    assert(await page.evaluate(() => document.querySelector<HTMLInputElement>("#field-TOKEN")?.required));
  });

  test("sends changed values, and a response does not interrupt typing", async () => {
    await open("parameters");
    await showForm();
    await page.fill("#field-APP_NAME", "store");
    await untilSent(2);
    assert.deepEqual(await lastSent(), { type: "values", values: { APP_NAME: "store" } });
    assert.equal(await page.textContent("#default-APP_NAME"), "Default: shop");
    await page.selectOption("#field-DEBUG", "true");
    await untilSent(3);
    assert.deepEqual(await lastSent(), { type: "values", values: { APP_NAME: "store", DEBUG: "true" } });
    await page.focus("#field-REPLICAS");
    await page.keyboard.type("3");
    await showForm([], { APP_NAME: "store", DEBUG: "true" });
    assert.equal(await page.evaluate(() => document.activeElement?.id), "field-REPLICAS");
    assert.match(await page.inputValue("#field-REPLICAS"), /3/);
    await page.click("#reset");
    assert.deepEqual(await lastSent(), { type: "values", values: {} });
    assert.equal(await page.inputValue("#field-APP_NAME"), "shop");
    assert(!(await page.isVisible("#default-APP_NAME")));
  });

  test("shows a problem next to its field", async () => {
    await open("parameters");
    await showForm([
      { message: "TOKEN is required and has no value", parameter: "TOKEN" },
      { message: "an object has no kind", parameter: null },
    ]);
    assert.equal(await page.textContent("#problem-TOKEN"), "TOKEN is required and has no value");
    assert.equal(await page.getAttribute("#field-TOKEN", "aria-invalid"), "true");
    assert.equal(await page.getAttribute("#field-APP_NAME", "aria-invalid"), "false");
    assert.equal(await page.textContent(".problems"), "an object has no kind");
    await showForm();
    assert(!(await page.isVisible("#problem-TOKEN")));
    assert(!(await page.isVisible(".problems")));
  });

  test("requests a comparison", async () => {
    await open("parameters");
    await showForm();
    await page.click("#compare");
    assert.deepEqual(await lastSent(), { type: "compare" });
  });

  for (const theme of Object.keys(THEMES)) {
    test(`has no accessibility violations in the ${theme} theme`, async () => {
      await open("parameters", theme);
      await showForm([{ message: "TOKEN is required and has no value", parameter: "TOKEN" }]);
      await page.fill("#field-APP_NAME", "store");
      assert.deepEqual(await violations(), []);
      await page.screenshot({ path: join(SCREENSHOTS, `parameters-${theme}.png`), fullPage: true });
    });
  }
});
