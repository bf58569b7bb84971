// Package mcpjson reads and writes the files in which MCP clients list their servers. It knows no network and stores nothing.
//
//	{"mcpServers": {"linear": {"url": …}}}           Claude, Cursor, Windsurf, Gemini, Cline and most others; also as an array
//	{"servers": {"linear": {…}}, "inputs": […]}      VS Code, also below "mcp"
//	{"linear": {"url": …}}   [{"name": "linear", …}]   {"url": …}   without the envelope: many, an array, one
//	{"servers": [{"server": {"name": …, "remotes": […]}, "_meta": {…}}], "metadata": …}    an MCP registry's list, also one server of it
//
// [Read] is lenient about the form (comments, commas too many, fields of one client alone) and exact about the rest: each entry
// is taken or refused by itself, with the line where it stands and a sentence. What authenticates becomes a [connectors.Secret];
// a header that would show a secret to every reader is never taken as a plain one. A placeholder such as ${TOKEN} is no secret:
// the entry says what is missing. No sentence ever repeats a value.
//
// [Write] makes such a file of connectors, with placeholders where secrets belong.
//
// What it is not for: deciding whether an entry makes a new connector or changes one (package registry).
package mcpjson
