// A program with a model inside is asked the same: a loopback model asks it for the calls, and reads what it gets.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { report } from "./report.mjs";

// plan has the calls. Some programs write names with underscores.
const plan = [["echo", { message: "5 < 6 & ✓" }], ["get-structured-content", { location: "New York" }], ["echo", { message: 7 }]];

// reportProgram gets api, the model's API, and program, which gets the model's address and an empty home, and returns script, args and env.
// api.tools returns the offered tools of a request, which have names; api.results the results of calls; api.say writes a call or, without
// one, the end.
export async function reportProgram({ api, program }) {
  let tools = [], results = [];
  const model = createServer(async (req, res) => {
    let text = "";
    for await (const chunk of req) text += chunk;
    const body = text.startsWith("{") ? JSON.parse(text) : {};
    const offered = api.tools(body).filter((tool) => tool.name.includes("everything"));
    if (offered.length > 0) {
      tools = offered.map((tool) => tool.name);
      results = api.results(body);
    }
    const [name, args] = offered.length > 0 && plan[results.length] || [];
    api.say(res, name && { id: `call_${results.length}`, tool: offered.find((tool) => tool.name.replaceAll("_", "-").endsWith(name)), args }, req);
  });
  await new Promise((resolve) => model.listen(0, "127.0.0.1", resolve));
  const home = await mkdtemp(join(tmpdir(), "patchbay-model-"));
  try {
    const { script, args, env } = await program(`http://127.0.0.1:${model.address().port}`, home);
    await run(script, args, { PATH: process.env.PATH, HOME: home, ...env }, home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
  if (results.length < plan.length) throw new Error(`${results.length} of ${plan.length} calls, ${tools.length} tools`);
  await report({ list: async () => tools, call: async () => results.shift() });
}

function run(script, args, env, cwd) {
  const path = fileURLToPath(new URL(`../node_modules/${script}`, import.meta.url));
  const [command, first] = path.endsWith("js") ? [process.execPath, [path]] : [path, []];
  const child = spawn(command, [...first, ...args], { cwd, env, stdio: ["ignore", 2, 2] });
  return new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
}

// sendEvents sends objects as server-sent events, named by their type where they have one.
export function sendEvents(res, events) {
  res.writeHead(200, { "Content-Type": "text/event-stream" });
  for (const event of events) res.write(`${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
  res.end();
}
