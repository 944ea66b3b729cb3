// Tests an untrusted workspace: the extension works, but uses neither a binary nor `secrets.show` from its settings. The
// workspace has many files, so that indexing takes long enough to be observed.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { newProject, startWorkbench, until, work } from "./workbench.mjs";

const FILES = 3000;
const started = join(work, "untrusted/started");
let code;

before(async () => {
  const project = newProject("untrusted");
  const evil = join(project, "evil");
  writeFileSync(evil, `#!/bin/sh\ntouch '${started}'\nexec '${process.env.PODLENS}' "$@"\n`, { mode: 0o755 });
  mkdirSync(join(project, ".vscode"));
  const settings = { "podlens.server.path": evil, "podlens.server.extraEnv": { EVIL: "1" }, "podlens.secrets.show": true };
  writeFileSync(join(project, ".vscode/settings.json"), JSON.stringify(settings));
  mkdirSync(join(project, "many"));
  for (let number = 0; number < FILES; number += 1) {
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-${number}\n  namespace: other\ndata:\n  A: "1"\n  B: "2"\n`;
    writeFileSync(join(project, `many/${number}.yaml`), text);
  }
  code = await startWorkbench({ name: "untrusted", project, trust: false });
});
after(() => code?.stop());

test("untrusted: the bundled server runs, not the binary in the workspace", async () => {
  assert.equal(await code.run((vscode) => vscode.workspace.isTrusted), false);
  await code.show("web.yaml", "- name: DB_PASSWORD");
  await code.untilRunning();
  const pid = await code.api("serverPid");
  assert.match(readFileSync(`/proc/${pid}/cmdline`, "utf8"), /extensions\/podlens\.podlens-[^\0]*\/bin\/podlens\0lsp/);
  assert.doesNotMatch(readFileSync(`/proc/${pid}/environ`, "utf8"), /(^|\0)EVIL=/);
  assert(!existsSync(started));
  await until("the findings", async () => (await code.rules()).includes("undefined-variable"));
});

test("untrusted: secrets stay masked, also if the workspace settings show them", async () => {
  await code.command("podlens.showEnvironment");
  await code.view("#variable-DB_PASSWORD.secret");
  assert(await (await code.inFrames("#reveal")).isDisabled());
  const environment = await code.api("environment");
  const password = environment.workloads[0].containers[0].env.find((it) => it.name === "DB_PASSWORD");
  assert.equal(password.value, null);
  await code.screenshot("untrusted");
});

test("the health shows the progress of the index", async () => {
  const seen = await code.run(async (vscode) => {
    const { exports } = vscode.extensions.getExtension("podlens.podlens");
    const seen = [];
    const subscription = exports.onDidChangeHealth((health) => seen.push(health));
    await vscode.commands.executeCommand("podlens.restart");
    for (const end = Date.now() + 60_000; Date.now() < end; ) {
      const indexed = seen.findIndex((it) => it.state === "indexing");
      if (indexed >= 0 && seen.slice(indexed).some((it) => it.state === "running")) {
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    subscription.dispose();
    return seen;
  });
  const steps = seen.filter((it) => it.state === "indexing").map((it) => it.detail);
  assert(steps.some((it) => /\d+ %/.test(it)), JSON.stringify(seen));
  assert.equal(seen[0].state, "stopped");
  assert.match(seen.at(-1).detail, /^podlens [\d.]+$/);
  // The view that was open during the restart is complete.
  await code.view("#variable-LANGUAGE");
});

test("trusted: the server path is still read from user settings only", async () => {
  await code.command("workbench.trust.manage");
  await code.page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust$/ }).first().click();
  await until("trust", () => code.run((vscode) => vscode.workspace.isTrusted));
  await code.untilRunning();
  await code.command("podlens.restart");
  await code.untilRunning();
  assert(!existsSync(started));
});
