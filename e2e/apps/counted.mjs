// Runs an example server of MCP Apps over stdio, and appends the name of each tool that it is asked to call to a file:
//   node counted.mjs PACKAGE FILE ARGUMENT…
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const [name, file, ...args] = process.argv.slice(2);
const script = fileURLToPath(new URL(`node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url));
const server = spawn(process.execPath, [script, "--stdio", ...args], { stdio: ["pipe", "inherit", "inherit"] });
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => server.kill(signal));
server.on("exit", (code) => process.exit(code ?? 1));
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.method === "tools/call") appendFileSync(file, `${message.params.name}\n`);
  server.stdin.write(`${line}\n`);
}
server.stdin.end();
