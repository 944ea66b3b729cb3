// Runs functions that the tests send in the extension host; writes its port to a file. For tests only.
const { writeFileSync, renameSync } = require("node:fs");
const http = require("node:http");
const vscode = require("vscode");

exports.activate = () => {
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", async () => {
      let answer;
      try {
        const { code, args } = JSON.parse(body);
        const run = new Function(`return (${code})`)();
        answer = { result: (await run(vscode, args)) ?? null };
      } catch (error) {
        answer = { error: String(error?.stack ?? error) };
      }
      response.end(JSON.stringify(answer));
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const file = process.env.PODLENS_E2E_PORT;
    writeFileSync(`${file}.new`, String(server.address().port));
    renameSync(`${file}.new`, file);
  });
};
