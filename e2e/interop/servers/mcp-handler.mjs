// A server of mcp-handler on a port.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "mcp-handler";
import { addTool } from "./add.mjs";

createServer(toNodeHandler({ fetch: createMcpHandler(addTool) })).listen(Number(process.argv[2]));
