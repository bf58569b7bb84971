import { mkdir, writeFile } from "node:fs/promises";
import { reportProgram, sendEvents } from "./model.mjs";
import { token, url } from "./report.mjs";

// Tools of a server stand in a namespace.
const toolsOf = (space) => (space.tools ?? []).map((tool) => ({ name: `${space.name}__${tool.name}`, space: space.name, short: tool.name }));
const responses = {
  tools: (body) => (body.tools ?? []).flatMap(toolsOf),
  results: (body) => body.input.filter((item) => item.type === "function_call_output").map((item) => item.output),
  say(res, call) {
    const item = call
      ? { type: "function_call", id: call.id, call_id: call.id, name: call.tool.short, namespace: call.tool.space, arguments: JSON.stringify(call.args) }
      : { type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "done" }] };
    const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
    sendEvents(res, [
      { type: "response.created", response: { id: "r" } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id: "r", usage } },
    ]);
  },
};
const config = (address) => `model = "m"
model_provider = "loopback"
[model_providers.loopback]
name = "loopback"
base_url = "${address}"
wire_api = "responses"
[mcp_servers.everything]
url = "${url}"
bearer_token_env_var = "TOKEN"
`;
await reportProgram({
  api: responses,
  async program(address, home) {
    await mkdir(`${home}/.codex`);
    await writeFile(`${home}/.codex/config.toml`, config(address));
    return {
      script: "@openai/codex/bin/codex.js",
      args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"],
      env: { TOKEN: token },
    };
  },
});
