/** What the pages show, without the pages. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { countOf, dotenv, isLong, lengthOf, matches, ordered, place, shownValue } from "../src/shared/environment";
import { documentAt, startOf } from "../src/shared/documents";
import { graphOf, references } from "../src/shared/graph";
import { pageHtml } from "../src/shared/html";
import { changed, defaultNote, fields, otherProblems } from "../src/shared/parameters";
import { BinaryError, choose, probe } from "../src/binary";
import { PARAMETERS, PASSWORD, container, parameter, sample, source, variable } from "./samples";

const main = (shown: boolean) => {
  const found = sample(shown).workloads[0]?.containers[0];
  assert(found !== undefined);
  return found;
};

test("unknown variables come first, then all by name", () => {
  const names = ordered(main(false).env).map((it) => it.name);
  assert.deepEqual(names, ["CACHE_SERVICE_HOST", "REGION", "CACHE_URL", "DB_PASSWORD", "EMPTY", "HTML", "LOG_LEVEL", "URL"]);
});

test("a search looks at every word, and never into a masked secret", () => {
  const secret = variable("DB_PASSWORD", PASSWORD, { state: "secret", source: source("secret", "login", "password") });
  assert(matches(secret, "db LOGIN", false));
  assert(!matches(secret, "horse", false));
  assert(matches(secret, "horse", true));
  assert(!matches(secret, "db nothing", true));
});

test("a value for a person", () => {
  assert.equal(shownValue(variable("A", "x"), false), "x");
  assert.equal(shownValue(variable("A", null, { state: "unknown" }), false), "unknown");
  assert.equal(shownValue(variable("A", PASSWORD, { state: "secret" }), false), "••••••••");
  assert.equal(shownValue(variable("A", null, { state: "secret" }), true), "••••••••");
});

test("variables of services are counted apart", () => {
  const redis = variable("REDIS_SERVICE_HOST", null, { source: source("service", "redis") });
  assert.equal(countOf([variable("A", "x")], 1, false), "1 variable");
  assert.equal(countOf([variable("A", "x"), variable("B", "x"), redis], 3, false), "2 variables, 1 from services");
  const cluster = variable("KUBERNETES_PORT", null, { source: { ...source("service", "kubernetes"), file: null } });
  assert.equal(countOf([variable("A", "x"), redis, cluster], 3, false), "1 variable, 1 from services, 1 from the cluster");
  assert.equal(countOf([cluster], 1, false), "0 variables, 1 from the cluster");
  assert.equal(countOf([variable("A", "x"), redis], 0, true), "0 of 2 variables");
});

test("long values are told by lines or characters", () => {
  assert(!isLong("a\nb\nc\nd\ne\nf\n"));
  assert.equal(lengthOf("a\nb\nc\nd\ne\nf\ng\n"), "7 lines");
  assert(isLong("x".repeat(321)));
  assert.equal(lengthOf("x".repeat(321)), "321 characters");
});

test("dotenv is read back by a shell, and holds only what is known and shown", () => {
  const odd = container({
    env: [
      variable("A", "it's"),
      variable("no-name", "x"),
      variable("P", "a<hole>\nb", { state: "partial" }),
      variable("S", PASSWORD, { state: "secret" }),
    ],
  });
  const masked = dotenv(odd, false);
  assert.equal(masked.text, "A='it'\\''s'\n# no-name: x\n# P: a<hole> b\n# S: ••••••••\n");
  assert.equal(masked.count, 1);
  assert.match(dotenv(odd, true).text, /^S='correct horse'$/m);
});

test("places are short", () => {
  assert.equal(place({ file: "a/b/web.yaml", line: 3 }), "web.yaml:3");
  assert.equal(place({ file: null, line: null }), "");
});

test("references are found, escapes are not", () => {
  assert.deepEqual(references("$(A)$$(B)$(A)$(C"), ["A"]);
  assert.deepEqual(references(null), []);
});

test("the graph has an edge for each reference, in columns", () => {
  const graph = graphOf(main(false));
  const edges = graph.edges.map(({ from, to }) => `${from} ${to}`);
  assert.deepEqual(edges, [
    "CACHE_SERVICE_HOST CACHE_URL",
    "CACHE_URL URL",
    "LOG_LEVEL URL",
    "URL args",
    "LOG_LEVEL mount /logs",
  ]);
  const column = Object.fromEntries(graph.nodes.map((node) => [node.name, node.column]));
  assert.deepEqual(column, { CACHE_SERVICE_HOST: 0, LOG_LEVEL: 0, CACHE_URL: 1, "mount /logs": 1, URL: 2, args: 3 });
});

test("a variable that is declared only later feeds nothing", () => {
  const at = (line: number) => ({ source: source("env", null, null, line) });
  const late = container({
    env: [variable("A", "x", at(30)), variable("B", "$(A)", at(20)), variable("C", "x", { raw: "$(A)", ...at(40) })],
    unresolved: [{ name: "A", file: "shop/web.yaml", line: 21, column: 20, why: "forward" }],
  });
  assert.deepEqual(graphOf(late).edges.map(({ from, to }) => `${from} ${to}`), ["A C"]);
});

test("an edge over several columns has a free place in each, and what is connected stands together", () => {
  const graph = graphOf(main(false));
  const far = graph.edges.find((edge) => edge.from === "LOG_LEVEL" && edge.to === "URL");
  assert.equal(far?.through.length, 1);
  const places = [...graph.nodes, ...graph.edges.flatMap((edge) => edge.through)].map(({ column, row }) => `${column} ${row}`);
  assert.deepEqual(places.filter((place, at) => places.indexOf(place) !== at), [], "two at the same place");
  const wide = container({ env: ["A", "B", "C"].flatMap((it) => [variable(it, "x"), variable(`Z_${"CBA"[it.charCodeAt(0) - 65]}`, "x", { raw: `$(${it})` })]) });
  const rows = Object.fromEntries(graphOf(wide).nodes.map((node) => [node.name, node.row]));
  assert.deepEqual([rows["Z_C"], rows["Z_B"], rows["Z_A"]], [rows["A"], rows["B"], rows["C"]]);
});

test("a loop does not hang the graph", () => {
  const loop = container({ env: [variable("A", "$(B)"), variable("B", "$(A)$(B)")] });
  assert.deepEqual(graphOf(loop).nodes.map((node) => node.name).sort(), ["A", "B"]);
});

test("documents are told apart, and found again", () => {
  const text = "# about\n\nkind: A\n--- # next\n\nkind: B\nname: ---x\n---\n# nothing\n";
  assert.deepEqual([0, 2, 3, 5, 6, 8].map((line) => documentAt(text, line)), [0, 0, 1, 1, 1, 2]);
  assert.deepEqual([0, 1, 2].map((it) => startOf(text, it)), [2, 5, 0]);
  assert.equal(startOf("---\r\nkind: A\r\n", 1), 1);
});

test("fields follow the parameters", () => {
  const drawn = fields(PARAMETERS, [{ message: "has no value", parameter: "TOKEN" }], { REPLICAS: "5" });
  assert.deepEqual(drawn.map((it) => it.input), ["text", "number", "choice", "text", "text"]);
  assert.deepEqual(drawn.map((it) => it.initial), ["shop", "5", "false", "", ""]);
  assert.equal(drawn[0]?.label, "Name of the application");
  assert.equal(drawn[3]?.placeholder, "generated from [a-zA-Z0-9]{16}");
  assert.equal(drawn[4]?.problem, "has no value");
  assert.equal(fields([parameter("A", { value: "a\nb" })], [], {})[0]?.input, "long");
});

test("a field that differs from the template says what the template says", () => {
  const [named, , , generated] = fields(PARAMETERS, [], {});
  assert(named !== undefined && generated !== undefined);
  assert.equal(defaultNote(named, "store"), "The template says shop");
  assert.equal(defaultNote(named, "shop"), "");
  assert.equal(defaultNote(generated, "secret"), "");
});

test("only what differs from the template is sent", () => {
  assert.deepEqual(changed(PARAMETERS, { APP_NAME: "", REPLICAS: "2", TOKEN: "", PASSWORD: "x" }), { APP_NAME: "", PASSWORD: "x" });
});

test("problems without a field are not lost", () => {
  const problems = [
    { message: "a", parameter: null },
    { message: "b", parameter: "GONE" },
    { message: "c", parameter: "TOKEN" },
  ];
  assert.deepEqual(otherProblems(PARAMETERS, problems), ["a", "b"]);
});

test("a page's policy lets nothing in but its own script and style", () => {
  const html = pageHtml({ title: "t", script: "s.js", style: "s.css", styleSource: "https://own", nonce: "abc" });
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
  assert.equal(policy, "default-src 'none'; style-src https://own; script-src 'nonce-abc'; base-uri 'none'; form-action 'none'");
});

test("the server's path: empty is the bundled one, a relative one is refused", () => {
  assert.deepEqual(choose(" ", "/ext", "linux"), { path: "/ext/bin/podlens", configured: false });
  assert.match(choose("", "/ext", "win32").path, /podlens\.exe$/);
  assert.equal(choose("/opt/podlens", "/ext").configured, true);
  assert.match(choose("~/podlens", "/ext").path, /^\/.+\/podlens$/);
  assert.throws(() => choose("bin/podlens", "/ext"), BinaryError);
});

test("a server that cannot run is explained", async () => {
  const failure = async (path: string): Promise<BinaryError> => {
    const error: unknown = await probe({ path, configured: true }).then(() => undefined, (it: unknown) => it);
    assert(error instanceof BinaryError);
    return error;
  };
  assert.match((await failure("/nowhere/podlens")).message, /There is no server at \/nowhere\/podlens/);
  assert.match((await failure("/")).message, /not a file/);
  const directory = mkdtempSync(join(tmpdir(), "podlens-"));
  const plain = join(directory, "podlens");
  writeFileSync(plain, "", { mode: 0o644 });
  assert.match((await failure(plain)).message, /may not be executed/);
  rmSync(directory, { recursive: true });
  assert.match((await failure(process.execPath)).message, /is not podlens: it says 'v/);
  assert.match((await failure("/nowhere/podlens")).remedy, /podlens\.server\.path/);
});
