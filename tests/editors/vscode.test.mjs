// The VSIX as a user gets it, installed in VS Code: most is asked inside the extension host, some is seen on the page.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, createWriteStream, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const extension = join(here, "../../editors/vscode");
const { PODLENS, PODLENS_TOOLS, PODLENS_WORK: work } = process.env;
const { browser: startBrowser } = await import(join(extension, "scripts/browser.mjs"));
const entry = join(PODLENS_TOOLS, "programs/node_modules/code-server/out/node/entry.js");
const project = join(work, "project");
const PATIENCE = 120_000;

let code;
let browser;
let page;
let port;

before(async () => {
  mkdirSync(project, { recursive: true });
  cpSync(join(here, "project"), project, { recursive: true });
  // A podlens.yaml would count instead of the editor's settings, which are tested too; .git says where the project ends.
  rmSync(join(project, "podlens.yaml"));
  mkdirSync(join(project, ".git"));
  mkdirSync(join(work, "home"), { recursive: true });
  mkdirSync(join(work, "data/User"), { recursive: true });
  cpSync(join(here, "vscode-settings.json"), join(work, "data/User/settings.json"));
  const node = (...args) => execFileSync(process.execPath, args, { cwd: extension, stdio: ["ignore", "inherit", "inherit"], env: environment() });
  node(join(extension, "scripts/package.mjs"), "--binary", PODLENS, "--out", work);
  cpSync(join(here, "vscode-e2e"), join(work, "e2e"), { recursive: true });
  const vsce = join(extension, "node_modules/@vscode/vsce/vsce");
  const flags = ["--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", join(work, "e2e.vsix")];
  execFileSync(process.execPath, [vsce, "package", ...flags], { cwd: join(work, "e2e"), stdio: ["ignore", "ignore", "inherit"] });
  port = await freePort();
  const bind = await freePort();
  for (const vsix of [`podlens-${process.platform}-${process.arch}.vsix`, "e2e.vsix"]) {
    node(entry, ...directories(), "--install-extension", join(work, vsix));
  }
  const log = createWriteStream(join(work, "code-server.log"));
  code = spawn(
    process.execPath,
    [entry, ...directories(), "--auth", "none", "--bind-addr", `127.0.0.1:${bind}`, "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust", project],
    { env: { ...environment(), PODLENS_E2E_PORT: String(port) }, stdio: ["ignore", "pipe", "pipe"], detached: true },
  );
  code.stdout.pipe(log);
  code.stderr.pipe(log);
  await until("code-server answers", async () => (await fetch(`http://127.0.0.1:${bind}/healthz`)).ok);
  browser = await startBrowser();
  page = await browser.newPage({ viewport: { width: 1280, height: 760 } });
  page.setDefaultTimeout(PATIENCE);
  await page.goto(`http://127.0.0.1:${bind}/?folder=${encodeURIComponent(project)}`);
  await page.waitForSelector(".monaco-workbench");
  await until("the extension host answers", () => run(() => true));
});

after(async () => {
  await page?.screenshot({ path: join(work, "last.png") }).catch(() => undefined);
  await browser?.close();
  if (code?.pid !== undefined) {
    // The group: code-server starts processes of its own, the server among them.
    process.kill(-code.pid, "SIGTERM");
  }
});

function environment() {
  return { ...process.env, HOME: join(work, "home"), EXTENSIONS_GALLERY: '{"serviceUrl":"http://127.0.0.1:9/g"}' };
}

function directories() {
  return ["--user-data-dir", join(work, "data"), "--extensions-dir", join(work, "extensions"), "--config", join(work, "config.yaml")];
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

// Waits until something is true; what it is then is returned.
async function until(what, check) {
  let last;
  for (const end = Date.now() + PATIENCE; Date.now() < end; ) {
    try {
      last = await check();
      if (last) {
        return last;
      }
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${what}: not within ${PATIENCE / 1000} s; last: ${JSON.stringify(last instanceof Error ? last.message : last)?.slice(0, 400)}`);
}

// Runs a function in the extension host. It sees nothing of this file but its argument.
async function run(body, args = {}) {
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: JSON.stringify({ code: body.toString(), args: { project, ...args } }) });
  const { result, error } = await response.json();
  if (error !== undefined) {
    throw new Error(error);
  }
  return result;
}

// The provider `command` at the place after `text` of a file.
function ask(command, file, text, ...more) {
  return run(
    async (vscode, { project, command, file, text, more }) => {
      const uri = vscode.Uri.file(`${project}/${file}`);
      const document = await vscode.workspace.openTextDocument(uri);
      const at = document.positionAt(document.getText().indexOf(text) + text.length);
      const found = await vscode.commands.executeCommand(command, uri, at, ...more);
      // Markdown has getters, which JSON leaves out.
      return JSON.parse(JSON.stringify(found ?? null, (_, value) => (value instanceof vscode.MarkdownString ? value.value : value)));
    },
    { command, file, text, more },
  );
}

const findings = () =>
  run(async (vscode, { project }) => {
    const all = vscode.languages.getDiagnostics(vscode.Uri.file(`${project}/web.yaml`));
    return all.map((it) => ({ rule: it.code?.value ?? it.code, link: String(it.code?.target ?? ""), source: it.source, line: it.range.start.line, column: it.range.start.character }));
  });
const rules = async () => (await findings()).map((it) => it.rule).sort();
const api = (method) => run((vscode, { method }) => vscode.extensions.getExtension("podlens.podlens").exports[method](), { method });
const frames = (selector) => page.frames().map((frame) => frame.locator(selector));

// The text of the page that has an element, in one of the frames that VS Code nests.
async function pageWith(selector) {
  for (const found of frames(selector)) {
    if ((await found.count()) > 0) {
      return found.first();
    }
  }
  return undefined;
}

// Replaces a text of a document without saving it.
const edit = (file, from, to) =>
  run(
    async (vscode, { project, file, from, to }) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.file(`${project}/${file}`));
      const start = document.getText().indexOf(from);
      if (start < 0) throw new Error(`no ${from} in ${file}`);
      const change = new vscode.WorkspaceEdit();
      change.replace(document.uri, new vscode.Range(document.positionAt(start), document.positionAt(start + from.length)), to);
      return vscode.workspace.applyEdit(change);
    },
    { file, from, to },
  );
const show = (file, text) =>
  run(
    async (vscode, { project, file, text }) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.file(`${project}/${file}`));
      const at = document.positionAt(document.getText().indexOf(text));
      await vscode.window.showTextDocument(document, { viewColumn: 1, preview: false, selection: new vscode.Range(at, at) });
    },
    { file, text },
  );
const previewText = (name) =>
  run((vscode, { name }) => vscode.workspace.textDocuments.find((it) => it.uri.scheme === "podlens-preview" && it.uri.path.endsWith(name))?.getText(), { name });
const closeAll = () => run((vscode) => vscode.commands.executeCommand("workbench.action.closeAllEditors"));

test("the bundled server runs, and says so", async () => {
  await show("web.yaml", "apiVersion");
  await until("the server runs", async () => {
    const exports = await run((vscode) => vscode.extensions.getExtension("podlens.podlens").isActive);
    return exports && (await api("health")).state === "running";
  });
  const health = await api("health");
  assert.match(health.detail, /^podlens \d/);
  const pid = await api("serverPid");
  assert.match(readFileSync(`/proc/${pid}/cmdline`, "utf8"), /extensions\/podlens\.podlens-[^\0]*\/bin\/podlens\0lsp/);
});

test("diagnostics have rule, link and place", async () => {
  const found = await until("the findings", async () => {
    const all = await findings();
    return all.some((it) => it.rule === "forward-reference") && all;
  });
  assert.deepEqual(await rules(), ["forward-reference", "shadowed-source", "undefined-variable"]);
  assert(found.every((it) => it.source === "podlens"));
  const undefined_ = found.find((it) => it.rule === "undefined-variable");
  // In UTF-16 units: the cart takes two.
  assert.deepEqual([undefined_.line, undefined_.column], [25, 43]);
  await page.waitForSelector(".squiggly-error");
});

test("hover shows the value", async () => {
  const hovers = await ask("vscode.executeHoverProvider", "web.yaml", "--url=$(UR");
  assert.match(JSON.stringify(hovers), /https:\/\/shop\.example\.com\/en/);
});

test("completion offers what is declared", async () => {
  const list = await ask("vscode.executeCompletionItemProvider", "web.yaml", "value: https://$(");
  const labels = list.items.map((it) => it.label?.label ?? it.label);
  assert(labels.includes("HOST"), labels.join(" "));
});

test("definition leads to the declaration", async () => {
  const found = await ask("vscode.executeDefinitionProvider", "web.yaml", "--url=$(UR");
  const line = (found[0].targetRange ?? found[0].range)[0].line;
  assert(line >= 22 && line <= 23, JSON.stringify(found));
});

test("rename changes the declaration and every reference", async () => {
  const edits = await run(async (vscode, { project }) => {
    const uri = vscode.Uri.file(`${project}/web.yaml`);
    const document = await vscode.workspace.openTextDocument(uri);
    const at = document.positionAt(document.getText().indexOf("name: HOST") + 7);
    const edit = await vscode.commands.executeCommand("vscode.executeDocumentRenameProvider", uri, at, "SITE");
    return edit.entries().flatMap(([, all]) => all.map((it) => [it.range.start.line, it.newText]));
  });
  assert.deepEqual(edits.map(([line]) => line).sort((a, b) => a - b), [20, 23]);
  assert(edits.every(([, text]) => text.includes("SITE")));
});

test("a code action mends a finding", async () => {
  const applied = await run(async (vscode, { project }) => {
    const uri = vscode.Uri.file(`${project}/web.yaml`);
    const finding = vscode.languages.getDiagnostics(uri).find((it) => (it.code?.value ?? it.code) === "forward-reference");
    const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, finding.range, "quickfix", 20);
    const action = actions.find((it) => /^Move/.test(it.title));
    return action?.edit !== undefined && (await vscode.workspace.applyEdit(action.edit)) && action.title;
  });
  assert.match(applied, /^Move `DB_HOST`/);
  await until("the finding goes", async () => !(await rules()).includes("forward-reference"));
  const text = await run(async (vscode, { project }) => (await vscode.workspace.openTextDocument(`${project}/web.yaml`)).getText());
  assert(text.indexOf("name: DB_HOST") < text.indexOf("name: DB_URL"));
  await run((vscode) => vscode.commands.executeCommand("workbench.action.files.revert"));
  await until("the finding is back", async () => (await rules()).includes("forward-reference"));
});

test("inlay hints show expanded values", async () => {
  const hints = await run(async (vscode, { project }) => {
    const uri = vscode.Uri.file(`${project}/web.yaml`);
    const found = await vscode.commands.executeCommand("vscode.executeInlayHintProvider", uri, new vscode.Range(0, 0, 50, 0));
    return found.map((it) => (typeof it.label === "string" ? it.label : it.label.map((part) => part.value).join("")));
  });
  assert(hints.some((it) => it.includes("https://shop.example.com/en")), hints.join(" | "));
});

test("a code lens opens the environment view, which follows the cursor", async () => {
  await run(async (vscode, { project }) => {
    const uri = vscode.Uri.file(`${project}/web.yaml`);
    const lenses = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", uri, 50);
    const lens = lenses.find((it) => it.command?.command === "podlens.showEnvironment");
    if (lens === undefined) throw new Error(`no lens: ${JSON.stringify(lenses)}`);
    await vscode.commands.executeCommand(lens.command.command, ...lens.command.arguments);
  });
  const row = await until("the view", () => pageWith("#variable-URL"));
  assert.match(await row.textContent(), /https:\/\/shop\.example\.com\/en.*env.*web\.yaml:23/s);
  assert.match(await (await pageWith("#variable-LOG_LEVEL")).textContent(), /hides config map settings\/LOG_LEVEL/);
  assert.match(await (await pageWith(".unresolved")).textContent(), /\$\(VISITOR\) stays as it is/);
  assert.doesNotMatch(await (await pageWith("main")).textContent(), /correct horse/);
  await picture("environment");
  await show("web.yaml", "- name: SIZE");
  await until("the other container", () => pageWith("#variable-SIZE"));
  assert.equal((await api("environment")).workloads[0].containers[0].name, "cache");
});

test("a link of the view opens the source", async () => {
  await show("web.yaml", "- name: LOG_LEVEL");
  const link = await until("the link", async () => (await pageWith("#variable-LANGUAGE"))?.locator("a").first());
  await link.click();
  await until("the config map is open", () => run((vscode) => vscode.window.activeTextEditor?.document.uri.path.endsWith("config.yaml")));
});

test("the rendered manifest follows what is typed", async () => {
  await closeAll();
  await show("web.yaml", "- name: URL");
  await run((vscode) => vscode.commands.executeCommand("podlens.previewRendered"));
  await until("the preview", async () => (await previewText("web.rendered.yaml"))?.includes("https://shop.example.com/en"));
  await edit("web.yaml", "value: shop.example.com", "value: new.example.com");
  await until("the preview is new", async () => (await previewText("web.rendered.yaml"))?.includes("https://new.example.com/en"));
  await run((vscode) => vscode.commands.executeCommand("podlens.comparePreview", vscode.workspace.textDocuments.find((it) => it.uri.scheme === "podlens-preview").uri));
  await page.waitForSelector(".monaco-diff-editor");
  await closeDirty();
});

test("a form drives the processed template", async () => {
  await show("template.yaml", "parameters:");
  await run((vscode) => vscode.commands.executeCommand("podlens.editParameters"));
  await until("the preview", async () => (await previewText("template.processed.yaml"))?.includes("name: shop"));
  const field = await until("the form", () => pageWith("#field-APP_NAME"));
  await field.fill("store");
  await until("the preview has the value", async () => (await previewText("template.processed.yaml"))?.includes("name: store"));
  await picture("preview");
  await closeAll();
});

test("settings reach the server", async () => {
  await show("web.yaml", "apiVersion");
  const set = (value) => run((vscode, { value }) => vscode.workspace.getConfiguration("podlens").update("rules", value ?? undefined, true), { value });
  await set({ "undefined-variable": "off" });
  await until("the rule is off", async () => !(await rules()).includes("undefined-variable") && (await rules()).includes("forward-reference"));
  await set(null);
  await until("the rule is on", async () => (await rules()).includes("undefined-variable"));
});

test("a server that is killed comes back", async () => {
  const pid = await api("serverPid");
  process.kill(pid, "SIGKILL");
  await until("another process", async () => {
    const now = await api("serverPid");
    return now !== null && now !== pid && (await api("health")).state === "running";
  });
  await edit("web.yaml", "$(VISITOR)", "$(STRANGER)");
  await until("diagnostics of the new one", async () => (await rules()).includes("undefined-variable"));
  const hovers = await ask("vscode.executeHoverProvider", "web.yaml", "--url=$(UR");
  assert.match(JSON.stringify(hovers), /shop\.example\.com/);
  await closeDirty();
});

test("a broken path is explained, and mended", async () => {
  const set = (value) => run((vscode, { value }) => vscode.workspace.getConfiguration("podlens").update("server.path", value, true), { value });
  await set("/nowhere/podlens");
  await until("the failure", async () => (await api("health")).state === "failed");
  assert.match((await api("health")).detail, /There is no server at \/nowhere\/podlens/);
  const toast = page.locator(".notification-toast", { hasText: "/nowhere/podlens" }).first();
  await toast.waitFor();
  assert.match(await toast.textContent(), /Correct podlens\.server\.path/);
  await picture("broken");
  await set("");
  await until("the server runs again", async () => (await api("health")).state === "running");
});

test("a picture of a finding", async () => {
  await closeDirty();
  await run((vscode) => vscode.commands.executeCommand("notifications.clearAll"));
  await show("web.yaml", "$(DB_HOST)");
  await until("the findings", async () => (await rules()).includes("forward-reference"));
  await run((vscode) => vscode.commands.executeCommand("editor.action.showHover"));
  await page.waitForSelector(".monaco-hover:not(.hidden)");
  await until("the hover speaks of it", async () => /declared only later/.test(await page.locator(".monaco-hover:not(.hidden)").first().textContent()));
  await picture("diagnostics");
});

// What a person would see, without what has nothing to do with it.
async function picture(name) {
  await run((vscode) => vscode.commands.executeCommand("workbench.action.closeSidebar"));
  await page.screenshot({ path: join(work, `${name}.png`) });
}

// Undoes what was typed, and closes everything.
async function closeDirty() {
  await run(async (vscode) => {
    for (const document of vscode.workspace.textDocuments.filter((it) => it.isDirty)) {
      await vscode.window.showTextDocument(document, { viewColumn: 1 });
      await vscode.commands.executeCommand("workbench.action.files.revert");
    }
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  });
}
