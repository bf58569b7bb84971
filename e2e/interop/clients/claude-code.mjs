import { reportProgram, sendEvents } from "./model.mjs";
import { headers, url } from "./report.mjs";

const messages = {
  tools: (body) => body.tools ?? [],
  results: (body) => body.messages.flatMap((message) => message.content).filter((block) => block.type === "tool_result"),
  say(res, call) {
    const block = call ? { type: "tool_use", id: call.id, name: call.tool.name, input: {} } : { type: "text", text: "" };
    const delta = call ? { type: "input_json_delta", partial_json: JSON.stringify(call.args) } : { type: "text_delta", text: "done" };
    const usage = { input_tokens: 1, output_tokens: 1 };
    sendEvents(res, [
      { type: "message_start", message: { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage } },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: call ? "tool_use" : "end_turn" }, usage },
      { type: "message_stop" },
    ]);
  },
};
const config = JSON.stringify({ mcpServers: { everything: { type: "http", url, headers } } });
await reportProgram({
  api: messages,
  program: (address) => ({
    script: `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
    args: ["-p", "go", "--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__everything"],
    env: { ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: "0", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", ENABLE_TOOL_SEARCH: "false" },
  }),
});
