// A server of the TypeScript SDK v2 on a port, without sessions (2026-07-28).
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { addTool } from "./add.mjs";

createServer(toNodeHandler(createMcpHandler(() => {
  const server = new McpServer({ name: "ts-v2", version: "1.0.0" });
  addTool(server);
  return server;
}))).listen(Number(process.argv[2]));
