// reportSession reports a session of the TypeScript SDK's client.
import { report } from "./report.mjs";

export function reportSession(client) {
  return report({
    list: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: (name, args) => client.callTool({ name, arguments: args }),
  });
}

// reportEvents reports what a client of v1 hears of server-everything besides results: progress of a call, and log messages.
export async function reportEvents(client) {
  const { LoggingMessageNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const logged = new Promise((resolve) => client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => resolve(typeof params.data)));
  const late = () => new Promise((resolve) => setTimeout(resolve, 20_000, "nothing"));
  await client.setLoggingLevel("debug");
  const progress = [];
  await client.callTool({ name: "trigger-long-running-operation", arguments: { duration: 1, steps: 3 } }, undefined, { onprogress: (p) => progress.push(p) });
  await client.callTool({ name: "toggle-simulated-logging", arguments: {} });
  const out = { progress, logged: await Promise.race([logged, late()]) };
  process.stdout.write(JSON.stringify(out) + "\n", () => process.exit(0));
}

// openBridge begins a session over a bridge, which is a program that speaks stdio.
export async function openBridge(script, args) {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { fileURLToPath } = await import("node:url");
  const path = fileURLToPath(new URL(`../node_modules/${script}`, import.meta.url));
  const client = new Client({ name: "bridge", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [path, ...args], env: process.env }));
  return client;
}
