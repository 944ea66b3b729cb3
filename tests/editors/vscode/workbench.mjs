// Starts VS Code with the VSIX installed and a browser that shows it, and gives tests access to the extension host.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, createWriteStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
export const extension = join(here, "../../../editors/vscode");
export const work = process.env.PODLENS_WORK;
export const vsix = join(work, `podlens-${process.platform}-${process.arch}.vsix`);
const entry = join(process.env.PODLENS_TOOLS, "programs/node_modules/code-server/out/node/entry.js");
const { browser: startBrowser } = await import(join(extension, "scripts/browser.mjs"));
const TIMEOUT = 120_000;

// Waits until `check` returns a true value, and returns that value.
export async function until(what, check) {
  let last;
  for (const end = Date.now() + TIMEOUT; Date.now() < end; ) {
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
  throw new Error(`timed out after ${TIMEOUT / 1000} s waiting for: ${what}; last value: ${JSON.stringify(last instanceof Error ? last.message : last)?.slice(0, 400)}`);
}

// Creates a copy of the project. It has no podlens.yaml, which would take precedence over the editor settings that are
// tested; .git marks the root.
export function newProject(name) {
  const project = join(work, name, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  cpSync(join(here, "../project"), project, { recursive: true });
  rmSync(join(project, "podlens.yaml"));
  return project;
}

// Starts VS Code on a project, in `work/NAME`. With `trust`, workspace trust is disabled.
export async function startWorkbench({ name, project, trust }) {
  const directory = join(work, name);
  const home = join(directory, "home");
  const data = join(directory, "data");
  // In a temporary directory, since paths of sockets must be short.
  const sockets = mkdtempSync(join(tmpdir(), "podlens-code-"));
  const port = join(directory, "e2e-port");
  mkdirSync(home, { recursive: true });
  mkdirSync(join(data, "User"), { recursive: true });
  cpSync(join(here, "settings.json"), join(data, "User/settings.json"));
  const env = { ...process.env, HOME: home, EXTENSIONS_GALLERY: '{"serviceUrl":"http://127.0.0.1:9/g"}', PODLENS_E2E_PORT: port };
  const directories = ["--user-data-dir", data, "--extensions-dir", join(directory, "extensions"), "--config", join(directory, "config.yaml"), "--session-socket", join(sockets, "session")];
  for (const file of [vsix, testExtension()]) {
    execFileSync(process.execPath, [entry, ...directories, "--install-extension", file], { env, stdio: ["ignore", "ignore", "inherit"] });
  }

  const flags = ["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check"];
  const code = spawn(process.execPath, [entry, ...directories, ...flags, ...(trust ? ["--disable-workspace-trust"] : []), project], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    // A separate process group, since code-server starts further processes, among them the server.
    detached: true,
  });
  const ended = new Promise((resolve) => code.once("exit", resolve));
  // VS Code is killed when the tests exit.
  process.once("exit", () => signal(code, "SIGKILL"));
  const logFile = join(directory, "code-server.log");
  const log = createWriteStream(logFile);
  code.stdout.pipe(log);
  code.stderr.pipe(log);
  let browser;
  let page;
  const stop = async () => {
    await page?.screenshot({ path: join(directory, "last.png") }).catch(() => undefined);
    await browser?.close();
    signal(code, "SIGTERM");
    const late = setTimeout(() => signal(code, "SIGKILL"), 10_000);
    await ended;
    clearTimeout(late);
    rmSync(sockets, { recursive: true, force: true });
  };
  try {
    const address = await until("the address of code-server", () => {
      if (code.exitCode !== null) throw new Error(`code-server exited with code ${code.exitCode}`);
      return /HTTP server listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(readFileSync(logFile, "utf8"))?.[1];
    });
    await until("code-server answers", async () => (await fetch(`${address}/healthz`)).ok);
    browser = await startBrowser();
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, permissions: ["clipboard-read", "clipboard-write"] });
    page = await context.newPage();
    page.setDefaultTimeout(TIMEOUT);
    await page.goto(`${address}/?folder=${encodeURIComponent(project)}`);
    await page.waitForSelector(".monaco-workbench");
    const workbench = new Workbench(page, project, port, stop);
    await until("the extension host answers", () => workbench.run(() => true));
    return workbench;
  } catch (error) {
    console.log(readFileSync(logFile, "utf8").split("\n").slice(-40).join("\n"));
    await stop();
    throw error;
  }
}

for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(name, () => process.exit(1));
}

function signal(child, name) {
  try {
    process.kill(-child.pid, name);
  } catch {
    // The process has already exited.
  }
}

// Builds the VSIX of the extension that runs functions of the tests.
function testExtension() {
  const file = join(work, "e2e.vsix");
  if (!existsSync(file)) {
    const stage = join(work, "e2e");
    cpSync(join(here, "e2e"), stage, { recursive: true });
    const vsce = join(extension, "node_modules/@vscode/vsce/vsce");
    const flags = ["--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", file];
    execFileSync(process.execPath, [vsce, "package", ...flags], { cwd: stage, stdio: ["ignore", "ignore", "inherit"] });
  }
  return file;
}

export class Workbench {
  constructor(page, project, port, stop) {
    Object.assign(this, { page, project, port, stop });
  }

  // Runs a function in the extension host. The function can use only its arguments, not other variables of its file.
  async run(body, args = {}) {
    const url = `http://127.0.0.1:${readFileSync(this.port, "utf8")}/`;
    const response = await fetch(url, { method: "POST", body: JSON.stringify({ code: body.toString(), args: { project: this.project, ...args } }) });
    const { result, error } = await response.json();
    if (error !== undefined) {
      throw new Error(error);
    }
    return result;
  }

  command(command, ...more) {
    return this.run((vscode, { command, more }) => vscode.commands.executeCommand(command, ...more).then(() => true), { command, more });
  }

  // Calls a method of the extension's API.
  api(method) {
    return this.run((vscode, { method }) => vscode.extensions.getExtension("podlens.podlens").exports[method](), { method });
  }

  async untilRunning() {
    await until("the extension is active", () => this.run((vscode) => vscode.extensions.getExtension("podlens.podlens")?.isActive));
    return until("the server runs", async () => {
      const health = await this.api("health");
      return health.state === "running" && health;
    });
  }

  // Sets a user setting; without a value, removes it.
  set(name, value) {
    return this.run((vscode, { name, value }) => vscode.workspace.getConfiguration().update(name, value ?? undefined, true).then(() => true), { name, value: value ?? null });
  }

  // Executes the provider `command` at the position after `text` in a file.
  executeProvider(command, file, text, ...more) {
    return this.run(
      async (vscode, { project, command, file, text, more }) => {
        const uri = vscode.Uri.file(`${project}/${file}`);
        const document = await vscode.workspace.openTextDocument(uri);
        const at = document.positionAt(document.getText().indexOf(text) + text.length);
        const found = await vscode.commands.executeCommand(command, uri, at, ...more);
        // MarkdownString has getters, which JSON.stringify omits.
        return JSON.parse(JSON.stringify(found ?? null, (_, value) => (value instanceof vscode.MarkdownString ? value.value : value)));
      },
      { command, file, text, more },
    );
  }

  findings(file = "web.yaml") {
    return this.run(
      async (vscode, { project, file }) => {
        const all = vscode.languages.getDiagnostics(vscode.Uri.file(`${project}/${file}`));
        return all.map((it) => ({ rule: it.code?.value ?? it.code, link: String(it.code?.target ?? ""), source: it.source, line: it.range.start.line, column: it.range.start.character }));
      },
      { file },
    );
  }

  async rules() {
    return (await this.findings()).map((it) => it.rule).sort();
  }

  // Finds an element of a page in one of the nested frames of VS Code.
  async inFrames(selector) {
    for (const frame of this.page.frames()) {
      const found = frame.locator(selector);
      if ((await found.count()) > 0) {
        return found.first();
      }
    }
    return undefined;
  }

  // Waits for an element of a page; on timeout, reports the content of the pages.
  view(selector) {
    return until(`${selector} on a page`, async () => {
      const found = await this.inFrames(selector);
      if (found === undefined) {
        const pages = await Promise.all(this.page.frames().slice(1).map(async (frame) => (await frame.locator("body").textContent({ timeout: 1000 }))?.slice(0, 100)));
        const environment = JSON.stringify(await this.api("environment"))?.slice(0, 100);
        throw new Error(`pages: ${JSON.stringify(pages)}, environment: ${environment}`);
      }
      return found;
    });
  }

  // Replaces a text in a document without saving it.
  edit(file, from, to) {
    return this.run(
      async (vscode, { project, file, from, to }) => {
        const document = await vscode.workspace.openTextDocument(vscode.Uri.file(`${project}/${file}`));
        const start = document.getText().indexOf(from);
        if (start < 0) throw new Error(`${from} not found in ${file}`);
        const change = new vscode.WorkspaceEdit();
        change.replace(document.uri, new vscode.Range(document.positionAt(start), document.positionAt(start + from.length)), to);
        return vscode.workspace.applyEdit(change);
      },
      { file, from, to },
    );
  }

  // Opens a file with the cursor before a text.
  show(file, text) {
    return this.run(
      async (vscode, { project, file, text }) => {
        const document = await vscode.workspace.openTextDocument(vscode.Uri.file(`${project}/${file}`));
        const at = document.positionAt(document.getText().indexOf(text));
        await vscode.window.showTextDocument(document, { viewColumn: 1, preview: false, selection: new vscode.Range(at, at) });
      },
      { file, text },
    );
  }

  previewText(name) {
    return this.run((vscode, { name }) => vscode.workspace.textDocuments.find((it) => it.uri.scheme === "podlens-preview" && it.uri.path.endsWith(name))?.getText(), { name });
  }

  // The text of the visible output channel.
  outputText() {
    return this.run((vscode) => vscode.workspace.textDocuments.filter((it) => it.uri.scheme === "output").map((it) => it.getText()).join("\n"));
  }

  closeAll() {
    return this.command("workbench.action.closeAllEditors");
  }

  // Reverts unsaved changes and closes all editors.
  async closeDirty() {
    await this.run(async (vscode) => {
      for (const document of vscode.workspace.textDocuments.filter((it) => it.isDirty)) {
        await vscode.window.showTextDocument(document, { viewColumn: 1 });
        await vscode.commands.executeCommand("workbench.action.files.revert");
      }
      await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    });
  }

  // Takes a screenshot. With `UPDATE=1`, those in the README are copied to the extension.
  async screenshot(name, { shipped = false, lenses = 0 } = {}) {
    await this.command("workbench.action.closeSidebar");
    // Code lenses appear after their lines: first without text, then with it.
    await until(`${lenses} lenses`, () =>
      this.page.evaluate((least) => {
        const visible = [...document.querySelectorAll(".codelens-decoration")];
        return visible.length >= least && visible.every((it) => /\d/.test(it.textContent) && it.getAnimations({ subtree: true }).length === 0);
      }, lenses),
    );
    const path = join(work, `${name}.png`);
    await this.page.screenshot({ path });
    if (shipped && process.env.UPDATE) {
      cpSync(path, join(extension, `images/${name}.png`));
    }
  }
}
