import { mkdir, writeFile } from "node:fs/promises";
import { reportProgram, sendEvents } from "./model.mjs";
import { headers, url } from "./report.mjs";

const generate = {
  tools: (body) => (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []),
  results: (body) => body.contents.flatMap((content) => content.parts).map((part) => part.functionResponse).filter(Boolean),
  say(res, call) {
    const part = call ? { functionCall: { id: call.id, name: call.tool.name, args: call.args } } : { text: "done" };
    sendEvents(res, [{ candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }], usageMetadata: {} }]);
  },
};
const settings = JSON.stringify({
  mcpServers: { everything: { httpUrl: url, headers, trust: true } },
  security: { auth: { selectedType: "gemini-api-key" } },
  privacy: { usageStatisticsEnabled: false },
});
await reportProgram({
  api: generate,
  async program(address, home) {
    await mkdir(`${home}/.gemini`);
    await writeFile(`${home}/.gemini/settings.json`, settings);
    return {
      script: "@google/gemini-cli/bundle/gemini.js", args: ["-p", "go", "--yolo", "--skip-trust", "-m", "gemini-2.5-flash"],
      env: { GEMINI_API_KEY: "0", GOOGLE_GEMINI_BASE_URL: address },
    };
  },
});
