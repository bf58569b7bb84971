// reportSession reports a session of the TypeScript SDK's client.
import { report } from "./report.mjs";

export function reportSession(client) {
  return report({
    list: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: (name, args) => client.callTool({ name, arguments: args }),
  });
}

// reportBridge reports a session over a bridge, which is a program that speaks stdio.
export async function reportBridge(script, args) {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { fileURLToPath } = await import("node:url");
  const path = fileURLToPath(new URL(`../node_modules/${script}`, import.meta.url));
  const client = new Client({ name: "bridge", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [path, ...args], env: process.env }));
  return reportSession(client);
}
