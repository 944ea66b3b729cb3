// The VSIX as a user gets it, installed in VS Code: most is asked inside the extension host, some is seen on the page.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { newProject, startWorkbench, until, work } from "./workbench.mjs";

let code;

before(async () => {
  code = await startWorkbench({ name: "trusted", project: newProject("trusted"), trust: true });
});
after(() => code?.stop());

const serverCommand = async () => readFileSync(`/proc/${await code.api("serverPid")}/cmdline`, "utf8");

test("the bundled server runs, and says so", async () => {
  await code.show("web.yaml", "apiVersion");
  const health = await code.untilRunning();
  assert.match(health.detail, /^podlens \d/);
  assert.match(await serverCommand(), /extensions\/podlens\.podlens-[^\0]*\/bin\/podlens\0lsp/);
});

test("diagnostics have rule, link and place", async () => {
  const found = await until("the findings", async () => {
    const all = await code.findings();
    return all.some((it) => it.rule === "forward-reference") && all;
  });
  assert.deepEqual(await code.rules(), ["forward-reference", "shadowed-source", "undefined-variable"]);
  assert(found.every((it) => it.source === "podlens" && it.link.includes(it.rule)), JSON.stringify(found));
  const undefined_ = found.find((it) => it.rule === "undefined-variable");
  // In UTF-16 units: the first character takes two.
  assert.deepEqual([undefined_.line, undefined_.column], [25, 43]);
  await code.page.waitForSelector(".squiggly-error");
});

test("hover shows the value", async () => {
  const hovers = await code.ask("vscode.executeHoverProvider", "web.yaml", "--url=$(UR");
  assert.match(JSON.stringify(hovers), /https:\/\/shop\.example\.com\/en/);
});

test("completion offers what is declared", async () => {
  const list = await code.ask("vscode.executeCompletionItemProvider", "web.yaml", "value: https://$(");
  const labels = list.items.map((it) => it.label?.label ?? it.label);
  assert(labels.includes("HOST"), labels.join(" "));
});

test("definition leads to the declaration", async () => {
  const found = await code.ask("vscode.executeDefinitionProvider", "web.yaml", "--url=$(UR");
  const line = (found[0].targetRange ?? found[0].range)[0].line;
  assert(line >= 22 && line <= 23, JSON.stringify(found));
});

test("rename changes the declaration and every reference", async () => {
  const edits = await code.run(async (vscode, { project }) => {
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
  const applied = await code.run(async (vscode, { project }) => {
    const uri = vscode.Uri.file(`${project}/web.yaml`);
    const finding = vscode.languages.getDiagnostics(uri).find((it) => (it.code?.value ?? it.code) === "forward-reference");
    const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, finding.range, "quickfix", 20);
    const action = actions.find((it) => /^Move/.test(it.title));
    return action?.edit !== undefined && (await vscode.workspace.applyEdit(action.edit)) && action.title;
  });
  assert.match(applied, /^Move `DB_HOST`/);
  await until("the finding goes", async () => !(await code.rules()).includes("forward-reference"));
  const text = await code.run(async (vscode, { project }) => (await vscode.workspace.openTextDocument(`${project}/web.yaml`)).getText());
  assert(text.indexOf("name: DB_HOST") < text.indexOf("name: DB_URL"));
  await code.command("workbench.action.files.revert");
  await until("the finding is back", async () => (await code.rules()).includes("forward-reference"));
});

test("inlay hints show expanded values", async () => {
  const hints = await code.run(async (vscode, { project }) => {
    const uri = vscode.Uri.file(`${project}/web.yaml`);
    const found = await vscode.commands.executeCommand("vscode.executeInlayHintProvider", uri, new vscode.Range(0, 0, 50, 0));
    return found.map((it) => (typeof it.label === "string" ? it.label : it.label.map((part) => part.value).join("")));
  });
  assert(hints.some((it) => it.includes("https://shop.example.com/en")), hints.join(" | "));
});

test("a code lens opens the environment view, which follows the cursor", async () => {
  await code.show("web.yaml", "- name: web");
  await code.run(async (vscode, { project }) => {
    const uri = vscode.Uri.file(`${project}/web.yaml`);
    const lenses = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", uri, 50);
    // They come in the order in which they were resolved, which is any; this one stands above the first container.
    const lens = lenses.find((it) => it.range.start.line === 12 && it.command?.command === "podlens.showEnvironment");
    if (lens === undefined) throw new Error(`no lens: ${JSON.stringify(lenses)}`);
    await vscode.commands.executeCommand(lens.command.command, ...lens.command.arguments);
  });
  const row = await code.view("#variable-URL");
  assert.match(await row.textContent(), /https:\/\/shop\.example\.com\/en.*env.*web\.yaml:23/s);
  assert.match(await (await code.inFrames("#variable-LOG_LEVEL")).textContent(), /hides config map settings\/LOG_LEVEL/);
  assert.match(await (await code.inFrames(".unresolved")).textContent(), /\$\(VISITOR\) is not expanded/);
  assert.doesNotMatch(await (await code.inFrames("main")).textContent(), /correct horse/);
  await code.picture("environment", { shipped: true, lenses: 2 });
  await code.show("web.yaml", "- name: SIZE");
  await code.view("#variable-SIZE");
  assert.equal((await code.api("environment")).workloads[0].containers[0].name, "cache");
});

test("the view is searched, draws what feeds what, and lets nothing in from outside", async () => {
  await code.show("web.yaml", "- name: LOG_LEVEL");
  await code.view("#variable-URL");
  const frame = await code.inFrames("body:has(#search)");
  const names = () => frame.locator("tbody th code").allTextContents();
  await frame.locator("#search").fill("db_");
  await until("what matches", async () => (await names()).join() === "DB_HOST,DB_PASSWORD,DB_URL");
  await frame.locator("#search").press("Escape");
  await until("all again", async () => (await names()).includes("URL"));
  // DB_HOST is declared after DB_URL: it feeds nothing.
  const edges = await frame.locator(".edge").evaluateAll((all) => all.map((it) => it.getAttribute("data-edge")));
  assert.deepEqual(edges.sort(), ["DB_PASSWORD → DB_URL", "GREETING → args", "HOST → URL", "LANGUAGE → URL", "URL → GREETING", "URL → args"]);
  const policy = await frame.evaluate((body) => body.ownerDocument.querySelector("meta[http-equiv=Content-Security-Policy]").content);
  assert.match(policy, /^default-src 'none'; style-src [^;]+; script-src 'nonce-[\w+/=]+'; base-uri 'none'; form-action 'none'$/);
});

test("the view follows what is typed", async () => {
  await code.edit("web.yaml", "value: shop.example.com", "value: typed.example.com");
  await until("the new value", async () => /https:\/\/typed\.example\.com\/en/.test(await (await code.inFrames("#variable-URL .value")).textContent()));
  await code.show("web.yaml", "- name: LOG_LEVEL");
  await code.command("workbench.action.files.revert");
  await until("the old value", async () => /https:\/\/shop\.example\.com\/en/.test(await (await code.inFrames("#variable-URL .value")).textContent()));
});

test("the view follows the theme", async () => {
  await code.show("web.yaml", "- name: LOG_LEVEL");
  await code.view("#variable-URL");
  const background = async () => (await code.inFrames("body:has(#variable-URL)")).evaluate((body) => getComputedStyle(body).backgroundColor);
  for (const [name, theme, colour] of [
    ["light", "Default Light Modern", "rgb(255, 255, 255)"],
    ["high-contrast", "Default High Contrast", "rgb(0, 0, 0)"],
    ["dark", "Default Dark Modern", "rgb(31, 31, 31)"],
  ]) {
    await code.set("workbench.colorTheme", theme);
    await until(`${name} colours`, async () => (await background()) === colour);
    await code.picture(`environment-${name}`);
  }
});

test("the view follows files that others change", async () => {
  const file = join(code.project, "config.yaml");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("LANGUAGE: en", "LANGUAGE: fr"));
  await until("the new value", async () => /fr/.test(await (await code.inFrames("#variable-LANGUAGE .value")).textContent()));
  writeFileSync(file, text);
  await until("the old value", async () => /en/.test(await (await code.inFrames("#variable-LANGUAGE .value")).textContent()));
});

test("a link of the view opens the source", async () => {
  await code.show("web.yaml", "- name: LOG_LEVEL");
  const link = (await code.view("#variable-LANGUAGE")).locator("a").first();
  await link.click();
  await until("the config map is open", () => code.run((vscode) => vscode.window.activeTextEditor?.document.uri.path.endsWith("config.yaml")));
});

test("the rendered manifest follows what is typed", async () => {
  await code.closeAll();
  await code.show("web.yaml", "- name: URL");
  await code.command("podlens.previewRendered");
  await until("the preview", async () => (await code.previewText("web.rendered.yaml"))?.includes("https://shop.example.com/en"));
  await code.edit("web.yaml", "value: shop.example.com", "value: new.example.com");
  await until("the preview is new", async () => (await code.previewText("web.rendered.yaml"))?.includes("https://new.example.com/en"));
});

test("the preview is read-only and can be compared with the source", async () => {
  const shown = await code.previewText("web.rendered.yaml");
  await code.page.locator(".editor-instance", { hasText: "apiVersion" }).last().click();
  await code.page.keyboard.type("x");
  assert.equal(await code.previewText("web.rendered.yaml"), shown);
  await code.run((vscode) => vscode.commands.executeCommand("podlens.comparePreview", vscode.workspace.textDocuments.find((it) => it.uri.scheme === "podlens-preview").uri));
  await code.page.waitForSelector(".monaco-diff-editor");
  const tab = await code.run((vscode) => {
    const { label, input } = vscode.window.tabGroups.activeTabGroup.activeTab;
    return { label, original: input.original.path, modified: input.modified.scheme };
  });
  assert.equal(tab.label, "web.yaml ↔ rendered");
  assert.match(tab.original, /project\/web\.yaml$/);
  assert.equal(tab.modified, "podlens-preview");
  await until("both sides", async () => {
    const text = (await code.page.locator(".monaco-diff-editor").textContent()).replaceAll("\u00a0", " ");
    return text.includes("$(HOST)/$(LANGUAGE)") && text.includes("https://new.example.com/en");
  });
  await code.picture("diff");
  await code.edit("web.yaml", "value: new.example.com", "value: third.example.com");
  await until("the comparison follows", async () => (await code.page.locator(".monaco-diff-editor").textContent()).includes("https://third.example.com/en"));
  await code.closeDirty();
});

test("a manifest is compared with what it renders to, without a preview first", async () => {
  await code.show("web.yaml", "- name: URL");
  await code.command("podlens.comparePreview");
  await until("the comparison", () => code.run((vscode) => vscode.window.tabGroups.activeTabGroup.activeTab?.label === "web.yaml ↔ rendered"));
  await code.closeAll();
});

test("the processed template follows what is typed, and is compared with the template", async () => {
  await code.show("template.yaml", "objects:");
  await code.command("podlens.previewProcessed");
  await until("the preview", async () => (await code.previewText("template.processed.yaml"))?.includes("replicas: 2"));
  const password = async () => /value: (\w{16})$/m.exec(await code.previewText("template.processed.yaml"))?.[1];
  const made = await password();
  await code.edit("template.yaml", 'value: "2"', 'value: "7"');
  await until("the preview is new", async () => (await code.previewText("template.processed.yaml"))?.includes("replicas: 7"));
  // What is made up stays, so that only what was typed changes before the reader's eyes.
  assert.equal(await password(), made);
  // Asked for at another line of the template, it is the same preview.
  await code.show("template.yaml", "parameters:");
  await code.command("podlens.previewProcessed");
  const tabs = await code.run((vscode) => vscode.window.tabGroups.all.flatMap((group) => group.tabs).map((tab) => tab.label));
  assert.deepEqual(tabs.sort(), ["template.processed.yaml", "template.yaml"]);
  await code.run((vscode) => vscode.commands.executeCommand("podlens.comparePreview", vscode.workspace.textDocuments.find((it) => it.uri.path.endsWith("template.processed.yaml")).uri));
  await until("the comparison", () => code.run((vscode) => vscode.window.tabGroups.activeTabGroup.activeTab?.label === "template.yaml ↔ processed"));
  await code.closeDirty();
});

test("a form drives the processed template", async () => {
  await code.show("template.yaml", "parameters:");
  await code.command("podlens.editParameters");
  await until("the preview", async () => (await code.previewText("template.processed.yaml"))?.includes("name: shop"));
  const field = await code.view("#field-APP_NAME");
  await field.fill("store");
  await until("the preview has the value", async () => (await code.previewText("template.processed.yaml"))?.includes("name: store"));
  await code.picture("preview", { shipped: true });
});

test("the form follows the template, keeps what was typed, and says what is wrong", async () => {
  const more = '  - name: DEBUG\n    description: Whether to say more.\n    type: bool\n    value: "false"\n  - name: TOKEN\n    displayName: Key to the door\n    required: true\nobjects:';
  await code.edit("template.yaml", "objects:", more);
  const label = await code.view("label[for=field-TOKEN]");
  assert.match(await label.textContent(), /Key to the door.*TOKEN.*required/);
  assert.match(await (await code.inFrames(".field:has(#field-DEBUG)")).textContent(), /DEBUG.*bool.*Whether to say more\./);
  assert.deepEqual(await (await code.inFrames("#field-DEBUG")).locator("option").allTextContents(), ["true", "false"]);
  await until("what is wrong", async () => /TOKEN/.test(await (await code.inFrames("#problem-TOKEN")).textContent()));
  assert.equal(await (await code.inFrames("#field-APP_NAME")).inputValue(), "store");
  await (await code.inFrames("#field-TOKEN")).fill("sesame");
  await until("nothing is wrong", async () => !(await (await code.inFrames("#problem-TOKEN")).isVisible()));
  await until("the preview keeps up", async () => (await code.previewText("template.processed.yaml"))?.includes("name: store"));
  await code.picture("form");
  await (await code.inFrames("#reset")).click();
  await until("the template's own values", async () => (await (await code.inFrames("#field-APP_NAME")).inputValue()) === "shop");
  await code.closeDirty();
});

test("a click on the line above a container opens its environment", async () => {
  await code.show("web.yaml", "- name: SIZE");
  await code.page.locator(".codelens-decoration a", { hasText: /^1 variable/ }).first().click();
  await code.view("#variable-SIZE");
  await code.closeAll();
});

test("the environment is copied as dotenv, and opened by command", async () => {
  await code.closeAll();
  await code.show("web.yaml", "- name: SIZE");
  await code.command("podlens.showEnvironment");
  await code.view("#variable-SIZE");
  await (await code.inFrames("#copy")).click();
  await until("the clipboard", async () => /^SIZE='64'$/m.test(await code.run((vscode) => vscode.env.clipboard.readText())));
});

test("secrets are masked until they may be shown and are revealed", async () => {
  await code.show("web.yaml", "- name: LOG_LEVEL");
  await code.view("#variable-DB_PASSWORD");
  assert(await (await code.inFrames("#reveal")).isDisabled());
  await code.set("podlens.secrets.show", true);
  await until("leave to reveal", async () => (await code.inFrames("#reveal")).isEnabled());
  const value = async () => (await code.inFrames("#variable-DB_PASSWORD .value")).textContent();
  assert.equal(await value(), "••••••••");
  await (await code.inFrames("#reveal")).click();
  await until("the value", async () => (await value()) === "correct horse");
  await code.set("podlens.secrets.show");
  await code.closeAll();
});

test("settings reach the server", async () => {
  await code.show("web.yaml", "apiVersion");
  await code.set("podlens.rules", { "undefined-variable": "off" });
  await until("the rule is off", async () => !(await code.rules()).includes("undefined-variable") && (await code.rules()).includes("forward-reference"));
  await code.set("podlens.rules");
  await until("the rule is on", async () => (await code.rules()).includes("undefined-variable"));
});

test("a file with values for parameters is looked at, whatever its language", async () => {
  writeFileSync(join(code.project, "shop.params"), "APP_NAME=store\nREPLICAS=3\nREPLICA=3\n");
  await code.show("shop.params", "APP_NAME");
  await until("the finding", async () => (await code.findings("shop.params")).some((it) => it.rule === "undefined-parameter" && it.line === 2));
  const hovers = await code.ask("vscode.executeHoverProvider", "shop.params", "APP_NA");
  assert.match(JSON.stringify(hovers), /Every object gets it/);
  writeFileSync(join(code.project, "shop.params"), "APP_NAME=store\nREPLICAS=3\n");
  await until("the finding goes", async () => (await code.findings("shop.params")).length === 0);
  await code.closeAll();
  await code.show("web.yaml", "apiVersion");
});

test("the status item shows the server's health", async () => {
  await code.page.locator('[id="status.languageStatus"]').click();
  const item = code.page.locator(".hover-language-status", { hasText: "podlens" }).first();
  await item.waitFor();
  assert.match(await item.textContent(), /podlens.*version \d.*Show output/is);
  await code.picture("status");
  await code.page.keyboard.press("Escape");
});

test("output and trace can be seen", async () => {
  await code.command("podlens.showOutput");
  await until("the output", async () => /podlens \d.* at .*bin\/podlens/.test(await code.outputText()));
  await code.set("podlens.trace.server", "verbose");
  await code.command("podlens.showTrace");
  await until("the trace", async () => {
    await code.ask("vscode.executeHoverProvider", "web.yaml", "--url=$(UR");
    return /textDocument\/hover/.test(await code.outputText());
  });
  await code.set("podlens.trace.server");
  await code.command("workbench.action.closePanel");
});

test("a command restarts the server", async () => {
  const pid = await code.api("serverPid");
  await code.command("podlens.restart");
  await code.untilRunning();
  const now = await code.api("serverPid");
  assert.notEqual(now, pid);
  assert.throws(() => process.kill(pid, 0), /ESRCH/);
  await until("its findings", async () => (await code.rules()).includes("undefined-variable"));
});

test("a server that is killed comes back", async () => {
  const pid = await code.api("serverPid");
  process.kill(pid, "SIGKILL");
  await until("another process", async () => {
    const now = await code.api("serverPid");
    return now !== null && now !== pid && (await code.api("health")).state === "running";
  });
  assert.match((await code.api("health")).detail, /^podlens [\d.]+$/);
  await code.edit("web.yaml", "$(VISITOR)", "$(STRANGER)");
  await until("diagnostics of the new one", async () => (await code.rules()).includes("undefined-variable"));
  const hovers = await code.ask("vscode.executeHoverProvider", "web.yaml", "--url=$(UR");
  assert.match(JSON.stringify(hovers), /shop\.example\.com/);
  await code.closeDirty();
});

test("a server that ends all the time stays down, says so, and comes back on command", async () => {
  // Which begins to count anew.
  await code.command("podlens.restart");
  for (let kills = 0; kills < 5; kills += 1) {
    const pid = await until("a server", async () => (await code.api("health")).state === "running" && (await code.api("serverPid")));
    process.kill(pid, "SIGKILL");
    await until("its end", async () => (await code.api("serverPid")) !== pid);
  }
  await until("the failure", async () => (await code.api("health")).state === "failed");
  const toast = code.page.locator(".notification-toast", { hasText: "The server ended 5 times" }).first();
  await toast.waitFor();
  await toast.locator(".monaco-button", { hasText: "Restart" }).click();
  await code.untilRunning();
  await code.command("notifications.clearAll");
});

test("a broken path is explained once, and mended", async () => {
  await code.set("podlens.server.path", "/nowhere/podlens");
  await until("the failure", async () => (await code.api("health")).state === "failed");
  assert.match((await code.api("health")).detail, /There is no server at \/nowhere\/podlens/);
  const toast = code.page.locator(".notification-toast", { hasText: "/nowhere/podlens" }).first();
  await toast.waitFor();
  assert.match(await toast.textContent(), /Correct podlens\.server\.path/);
  assert.deepEqual(await code.page.locator(".notification-toast a.monaco-button, .notification-toast .monaco-button").allTextContents(), ["Open Settings", "Show Output", "Restart"]);
  await code.picture("broken");
  assert.equal(await code.page.locator(".notification-toast").count(), 1);
  await code.set("podlens.server.path");
  await code.untilRunning();
  await code.command("notifications.clearAll");
});

test("another binary runs if the settings name one", async () => {
  const other = join(work, "other/podlens");
  mkdirSync(join(work, "other"), { recursive: true });
  cpSync(process.env.PODLENS, other);
  await code.set("podlens.server.path", other);
  await until("the other one", async () => (await code.api("health")).state === "running" && (await serverCommand()).startsWith(other));
  await code.set("podlens.server.path");
  await until("the bundled one", async () => (await code.api("health")).state === "running" && (await serverCommand()).includes("podlens.podlens-"));
});

test("a picture of a finding", async () => {
  await code.closeDirty();
  await code.show("web.yaml", "$(DB_HOST)");
  await until("the findings", async () => (await code.rules()).includes("forward-reference"));
  await code.page.waitForSelector(".squiggly-error");
  await until("the hover speaks of it", async () => {
    await code.command("editor.action.showHover");
    return /declared only later/.test(await code.page.locator(".monaco-hover:not(.hidden)").first().textContent({ timeout: 2000 }));
  });
  await code.picture("diagnostics", { shipped: true, lenses: 1 });
});

test("the walkthrough has its steps and pictures", async () => {
  await code.closeAll();
  await code.command("workbench.action.openWalkthrough", "podlens.podlens#start", false);
  await until("the steps", async () => (await code.page.locator(".getting-started-step").count()) === 4);
  await until("the picture", () => code.page.evaluate(() => [...document.querySelectorAll(".getting-started-media img")].some((it) => it.naturalWidth > 0)));
  await code.picture("walkthrough");
});
