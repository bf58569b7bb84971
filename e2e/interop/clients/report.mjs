// What each client is asked: its tools and three calls. One JSON object goes to standard output.
//
//   node CLIENT.mjs URL TOKEN
export const [url, token] = process.argv.slice(2);
export const headers = { Authorization: `Bearer ${token}` };
console.log = console.info = console.debug = console.warn = console.error;

// report gets list, which returns the names of tools, and call, which returns a tool's result in the client's form.
export async function report({ list, call }) {
  const result = (name, args) => call(name, args).then((value) => ({ value: JSON.stringify(value) }), (error) => ({ threw: String(error?.message ?? error) }));
  const out = {
    tools: await list(),
    echo: await result("echo", { message: "5 < 6 & ✓" }),
    structured: await result("get-structured-content", { location: "New York" }),
    misfit: await result("echo", { message: 7 }),
  };
  process.stdout.write(JSON.stringify(out) + "\n", () => process.exit(0));
}

// reportTools reports an object of the framework's tools by their names, which may have a prefix.
export function reportTools(tools, execute) {
  const names = Object.keys(tools);
  const find = (name) => tools[name] ?? tools[names.find((n) => n.endsWith(name))];
  return report({ list: async () => names, call: async (name, args) => execute(find(name), args) });
}
