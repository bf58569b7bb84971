// A server of the TypeScript SDK v2 on a port, with sessions (2025-11-25).
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { McpServer } from "@modelcontextprotocol/server";
import { addTool } from "./add.mjs";

const sessions = new Map();

async function openSession() {
  const server = new McpServer({ name: "ts-v2", version: "1.0.0" });
  addTool(server);
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => sessions.set(id, transport) });
  await server.connect(transport);
  return transport;
}

createServer(async (req, res) => {
  const transport = sessions.get(req.headers["mcp-session-id"]) ?? await openSession();
  await transport.handleRequest(req, res);
}).listen(Number(process.argv[2]));
