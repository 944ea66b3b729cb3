// Tests the VSIX, installed in VS Code: through the extension host, and where needed on the page.
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

test("the bundled server runs, and the health shows it", async () => {
  await code.show("web.yaml", "apiVersion");
  const health = await code.untilRunning();
  assert.match(health.detail, /^podlens \d/);
  assert.match(await serverCommand(), /extensions\/podlens\.podlens-[^\0]*\/bin\/podlens\0lsp/);
});

test("diagnostics have rule, link and position", async () => {
  const found = await until("the findings", async () => {
    const all = await code.findings();
    return all.some((it) => it.rule === "forward-reference") && all;
  });
  assert.deepEqual(await code.rules(), ["collapsed-dollar", "forward-reference", "undefined-variable"]);
  assert(found.every((it) => it.source === "podlens" && it.link.includes(it.rule)), JSON.stringify(found));
  const undefined_ = found.find((it) => it.rule === "undefined-variable");
  // In UTF-16 units: the first character takes two.
  assert.deepEqual([undefined_.line, undefined_.column], [25, 43]);
  await code.page.waitForSelector(".squiggly-error");
});

test("hover shows the value", async () => {
  const hovers = await code.executeProvider("vscode.executeHoverProvider", "web.yaml", "--url=$(UR");
  assert.match(JSON.stringify(hovers), /https:\/\/shop\.example\.com\/en/);
});

test("completion offers declared variables", async () => {
  const list = await code.executeProvider("vscode.executeCompletionItemProvider", "web.yaml", "value: https://$(");
  const labels = list.items.map((it) => it.label?.label ?? it.label);
  assert(labels.includes("HOST"), labels.join(" "));
});

test("definition goes to the declaration", async () => {
  const found = await code.executeProvider("vscode.executeDefinitionProvider", "web.yaml", "--url=$(UR");
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

test("a code action fixes a finding", async () => {
  const applied = await code.run(async (vscode, { project }) => {
    const uri = vscode.Uri.file(`${project}/web.yaml`);
    const finding = vscode.languages.getDiagnostics(uri).find((it) => (it.code?.value ?? it.code) === "forward-reference");
    const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, finding.range, "quickfix", 20);
    const action = actions.find((it) => /^Move/.test(it.title));
    return action?.edit !== undefined && (await vscode.workspace.applyEdit(action.edit)) && action.title;
  });
  assert.match(applied, /^Move `DB_HOST`/);
  await until("the finding is removed", async () => !(await code.rules()).includes("forward-reference"));
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
    // Lenses are in the order in which they were resolved, so the one above the first container is found by its line.
    const lens = lenses.find((it) => it.range.start.line === 12 && it.command?.command === "podlens.showEnvironment");
    if (lens === undefined) throw new Error(`no lens: ${JSON.stringify(lenses)}`);
    await vscode.commands.executeCommand(lens.command.command, ...lens.command.arguments);
  });
  const row = await code.view("#variable-URL");
  assert.match(await row.textContent(), /https:\/\/shop\.example\.com\/en.*env.*web\.yaml:23/s);
  assert.match(await (await code.inFrames("#variable-LOG_LEVEL")).textContent(), /hides config map settings\/LOG_LEVEL/);
  assert.match(await (await code.inFrames(".unresolved")).textContent(), /\$\(VISITOR\) is not expanded/);
  assert.doesNotMatch(await (await code.inFrames("main")).textContent(), /correct horse/);
  await code.screenshot("environment", { shipped: true, lenses: 2 });
  await code.show("web.yaml", "- name: SIZE");
  await code.view("#variable-SIZE");
  assert.equal((await code.api("environment")).workloads[0].containers[0].name, "cache");
});

test("the view can be searched, shows the reference graph, and loads nothing from outside", async () => {
  await code.show("web.yaml", "- name: LOG_LEVEL");
  await code.view("#variable-URL");
  const frame = await code.inFrames("body:has(#search)");
  const names = () => frame.locator("tbody th code").allTextContents();
  await frame.locator("#search").fill("db_");
  await until("the matches", async () => (await names()).join() === "DB_HOST,DB_PASSWORD,DB_URL");
  await frame.locator("#search").press("Escape");
  await until("all variables again", async () => (await names()).includes("URL"));
  // DB_HOST is declared after DB_URL, so it has no edge.
  const edges = await frame.locator(".edge").evaluateAll((all) => all.map((it) => it.getAttribute("data-edge")));
  assert.deepEqual(edges.sort(), ["DB_PASSWORD → DB_URL", "GREETING → args", "HOST → URL", "LANGUAGE → URL", "URL → GREETING", "URL → args"]);
  const policy = await frame.evaluate((body) => body.ownerDocument.querySelector("meta[http-equiv=Content-Security-Policy]").content);
  assert.match(policy, /^default-src 'none'; style-src [^;]+; script-src 'nonce-[\w+/=]+'; base-uri 'none'; form-action 'none'$/);
});

test("the view is updated while typing", async () => {
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
    await code.screenshot(`environment-${name}`);
  }
});

test("the view is updated when a file changes on disk", async () => {
  const file = join(code.project, "config.yaml");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("LANGUAGE: en", "LANGUAGE: fr"));
  await until("the new value", async () => /fr/.test(await (await code.inFrames("#variable-LANGUAGE .value")).textContent()));
  writeFileSync(file, text);
  await until("the old value", async () => /en/.test(await (await code.inFrames("#variable-LANGUAGE .value")).textContent()));
});

test("a link in the view opens the source", async () => {
  await code.show("web.yaml", "- name: LOG_LEVEL");
  const link = (await code.view("#variable-LANGUAGE")).locator("a").first();
  await link.click();
  await until("the config map is open", () => code.run((vscode) => vscode.window.activeTextEditor?.document.uri.path.endsWith("config.yaml")));
});

test("the rendered manifest is updated while typing", async () => {
  await code.closeAll();
  await code.show("web.yaml", "- name: URL");
  await code.command("podlens.previewRendered");
  await until("the preview", async () => (await code.previewText("web.rendered.yaml"))?.includes("https://shop.example.com/en"));
  await code.edit("web.yaml", "value: shop.example.com", "value: new.example.com");
  await until("the updated preview", async () => (await code.previewText("web.rendered.yaml"))?.includes("https://new.example.com/en"));
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
  await code.screenshot("diff");
  await code.edit("web.yaml", "value: new.example.com", "value: third.example.com");
  await until("the updated comparison", async () => (await code.page.locator(".monaco-diff-editor").textContent()).includes("https://third.example.com/en"));
  await code.closeDirty();
});

test("a manifest is compared with its rendered form without opening a preview first", async () => {
  await code.show("web.yaml", "- name: URL");
  await code.command("podlens.comparePreview");
  await until("the comparison", () => code.run((vscode) => vscode.window.tabGroups.activeTabGroup.activeTab?.label === "web.yaml ↔ rendered"));
  await code.closeAll();
});

test("the processed template is updated while typing, and can be compared with the template", async () => {
  await code.show("template.yaml", "objects:");
  await code.command("podlens.previewProcessed");
  await until("the preview", async () => (await code.previewText("template.processed.yaml"))?.includes("replicas: 2"));
  const password = async () => /value: (\w{16})$/m.exec(await code.previewText("template.processed.yaml"))?.[1];
  const generated = await password();
  await code.edit("template.yaml", 'value: "2"', 'value: "7"');
  await until("the updated preview", async () => (await code.previewText("template.processed.yaml"))?.includes("replicas: 7"));
  // Generated values stay the same, so that only the edited value changes.
  assert.equal(await password(), generated);
  // The command at another line of the template opens the same preview.
  await code.show("template.yaml", "parameters:");
  await code.command("podlens.previewProcessed");
  const tabs = await code.run((vscode) => vscode.window.tabGroups.all.flatMap((group) => group.tabs).map((tab) => tab.label));
  assert.deepEqual(tabs.sort(), ["template.processed.yaml", "template.yaml"]);
  await code.run((vscode) => vscode.commands.executeCommand("podlens.comparePreview", vscode.workspace.textDocuments.find((it) => it.uri.path.endsWith("template.processed.yaml")).uri));
  await until("the comparison", () => code.run((vscode) => vscode.window.tabGroups.activeTabGroup.activeTab?.label === "template.yaml ↔ processed"));
  await code.closeDirty();
});

test("values in the form are used in the processed template", async () => {
  await code.show("template.yaml", "parameters:");
  await code.command("podlens.editParameters");
  await until("the preview", async () => (await code.previewText("template.processed.yaml"))?.includes("name: shop"));
  const field = await code.view("#field-APP_NAME");
  await field.fill("store");
  await until("the preview has the value", async () => (await code.previewText("template.processed.yaml"))?.includes("name: store"));
  await code.screenshot("preview", { shipped: true });
});

test("the form is updated with the template, keeps its input, and shows problems", async () => {
  const more = '  - name: DEBUG\n    description: Whether to log more.\n    type: bool\n    value: "false"\n  - name: TOKEN\n    displayName: Access token\n    required: true\nobjects:';
  await code.edit("template.yaml", "objects:", more);
  const label = await code.view("label[for=field-TOKEN]");
  assert.match(await label.textContent(), /Access token.*TOKEN.*required/);
  assert.match(await (await code.inFrames(".field:has(#field-DEBUG)")).textContent(), /DEBUG.*bool.*Whether to log more\./);
  assert.deepEqual(await (await code.inFrames("#field-DEBUG")).locator("option").allTextContents(), ["true", "false"]);
  await until("the problem", async () => /TOKEN/.test(await (await code.inFrames("#problem-TOKEN")).textContent()));
  assert.equal(await (await code.inFrames("#field-APP_NAME")).inputValue(), "store");
  await (await code.inFrames("#field-TOKEN")).fill("secret");
  await until("no problem", async () => !(await (await code.inFrames("#problem-TOKEN")).isVisible()));
  await until("the updated preview", async () => (await code.previewText("template.processed.yaml"))?.includes("name: store"));
  await code.screenshot("form");
  await (await code.inFrames("#reset")).click();
  await until("the default values", async () => (await (await code.inFrames("#field-APP_NAME")).inputValue()) === "shop");
  await code.closeDirty();
});

test("a click on the code lens above a container opens its environment", async () => {
  await code.show("web.yaml", "- name: SIZE");
  await code.page.locator(".codelens-decoration a", { hasText: /^1 variable/ }).first().click();
  await code.view("#variable-SIZE");
  await code.closeAll();
});

test("the environment is opened by a command and copied as dotenv", async () => {
  await code.closeAll();
  await code.show("web.yaml", "- name: SIZE");
  await code.command("podlens.showEnvironment");
  await code.view("#variable-SIZE");
  await (await code.inFrames("#copy")).click();
  await until("the clipboard", async () => /^SIZE='64'$/m.test(await code.run((vscode) => vscode.env.clipboard.readText())));
});

test("secrets are masked until the setting allows it and they are revealed", async () => {
  await code.show("web.yaml", "- name: LOG_LEVEL");
  await code.view("#variable-DB_PASSWORD");
  assert(await (await code.inFrames("#reveal")).isDisabled());
  await code.set("podlens.secrets.show", true);
  await until("the button to be enabled", async () => (await code.inFrames("#reveal")).isEnabled());
  const value = async () => (await code.inFrames("#variable-DB_PASSWORD .value")).textContent();
  assert.equal(await value(), "••••••••");
  await (await code.inFrames("#reveal")).click();
  await until("the value", async () => (await value()) === "correct horse");
  await code.set("podlens.secrets.show");
  await code.closeAll();
});

test("settings are sent to the server", async () => {
  await code.show("web.yaml", "apiVersion");
  await code.set("podlens.rules", { "undefined-variable": "off" });
  await until("the rule is off", async () => !(await code.rules()).includes("undefined-variable") && (await code.rules()).includes("forward-reference"));
  await code.set("podlens.rules");
  await until("the rule is on", async () => (await code.rules()).includes("undefined-variable"));
});

test("a parameter file is checked, independent of its language", async () => {
  writeFileSync(join(code.project, "shop.params"), "APP_NAME=store\nREPLICAS=3\nREPLICA=3\n");
  await code.show("shop.params", "APP_NAME");
  await until("the finding", async () => (await code.findings("shop.params")).some((it) => it.rule === "undefined-parameter" && it.line === 2));
  const hovers = await code.executeProvider("vscode.executeHoverProvider", "shop.params", "APP_NA");
  assert.match(JSON.stringify(hovers), /Used in the name of every object/);
  writeFileSync(join(code.project, "shop.params"), "APP_NAME=store\nREPLICAS=3\n");
  await until("the finding is removed", async () => (await code.findings("shop.params")).length === 0);
  await code.closeAll();
  await code.show("web.yaml", "apiVersion");
});

test("the status item shows the server's health", async () => {
  await code.page.locator('[id="status.languageStatus"]').click();
  const item = code.page.locator(".hover-language-status", { hasText: "podlens" }).first();
  await item.waitFor();
  assert.match(await item.textContent(), /podlens.*version \d.*Show output/is);
  await code.screenshot("status");
  await code.page.keyboard.press("Escape");
});

test("output and trace are shown", async () => {
  await code.command("podlens.showOutput");
  await until("the output", async () => /podlens \d.* at .*bin\/podlens/.test(await code.outputText()));
  await code.set("podlens.trace.server", "verbose");
  await code.command("podlens.showTrace");
  await until("the trace", async () => {
    await code.executeProvider("vscode.executeHoverProvider", "web.yaml", "--url=$(UR");
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

test("a server that is killed is restarted", async () => {
  const pid = await code.api("serverPid");
  process.kill(pid, "SIGKILL");
  await until("another process", async () => {
    const now = await code.api("serverPid");
    return now !== null && now !== pid && (await code.api("health")).state === "running";
  });
  assert.match((await code.api("health")).detail, /^podlens [\d.]+$/);
  await code.edit("web.yaml", "$(VISITOR)", "$(GUEST)");
  await until("diagnostics of the new server", async () => (await code.rules()).includes("undefined-variable"));
  const hovers = await code.executeProvider("vscode.executeHoverProvider", "web.yaml", "--url=$(UR");
  assert.match(JSON.stringify(hovers), /shop\.example\.com/);
  await code.closeDirty();
});

test("a server that crashes repeatedly is not restarted, is reported, and can be restarted by a command", async () => {
  // A restart resets the count of crashes.
  await code.command("podlens.restart");
  for (let kills = 0; kills < 5; kills += 1) {
    const pid = await until("a server", async () => (await code.api("health")).state === "running" && (await code.api("serverPid")));
    process.kill(pid, "SIGKILL");
    await until("the server to exit", async () => (await code.api("serverPid")) !== pid);
  }
  await until("the failure", async () => (await code.api("health")).state === "failed");
  const toast = code.page.locator(".notification-toast", { hasText: "The server crashed 5 times" }).first();
  await toast.waitFor();
  await toast.locator(".monaco-button", { hasText: "Restart" }).click();
  await code.untilRunning();
  await code.command("notifications.clearAll");
});

test("a wrong server path is reported once, and can be corrected", async () => {
  await code.set("podlens.server.path", "/nowhere/podlens");
  await until("the failure", async () => (await code.api("health")).state === "failed");
  assert.match((await code.api("health")).detail, /\/nowhere\/podlens does not exist/);
  const toast = code.page.locator(".notification-toast", { hasText: "/nowhere/podlens" }).first();
  await toast.waitFor();
  assert.match(await toast.textContent(), /Correct podlens\.server\.path/);
  assert.deepEqual(await code.page.locator(".notification-toast a.monaco-button, .notification-toast .monaco-button").allTextContents(), ["Open Settings", "Show Output", "Restart"]);
  await code.screenshot("broken");
  assert.equal(await code.page.locator(".notification-toast").count(), 1);
  await code.set("podlens.server.path");
  await code.untilRunning();
  await code.command("notifications.clearAll");
});

test("the binary in the settings is used", async () => {
  const other = join(work, "other/podlens");
  mkdirSync(join(work, "other"), { recursive: true });
  cpSync(process.env.PODLENS, other);
  await code.set("podlens.server.path", other);
  await until("the other binary", async () => (await code.api("health")).state === "running" && (await serverCommand()).startsWith(other));
  await code.set("podlens.server.path");
  await until("the bundled binary", async () => (await code.api("health")).state === "running" && (await serverCommand()).includes("podlens.podlens-"));
});

test("a screenshot of a finding", async () => {
  await code.closeDirty();
  await code.show("web.yaml", "$(DB_HOST)");
  await until("the findings", async () => (await code.rules()).includes("forward-reference"));
  await code.page.waitForSelector(".squiggly-error");
  await until("the finding in the hover", async () => {
    await code.command("editor.action.showHover");
    return /forward-reference/.test(await code.page.locator(".monaco-hover:not(.hidden)").first().textContent({ timeout: 2000 }));
  });
  await code.screenshot("diagnostics", { shipped: true, lenses: 1 });
});

test("the walkthrough has its steps and images", async () => {
  await code.closeAll();
  await code.command("workbench.action.openWalkthrough", "podlens.podlens#start", false);
  await until("the steps", async () => (await code.page.locator(".getting-started-step").count()) === 4);
  await until("the image", () => code.page.evaluate(() => [...document.querySelectorAll(".getting-started-media img")].some((it) => it.naturalWidth > 0)));
  await code.screenshot("walkthrough");
});
