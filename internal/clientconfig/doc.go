// Package clientconfig reads and writes the files in which MCP clients list their servers. It uses no network and no
// storage.
//
//	{"mcpServers": {"linear": {"url": …}}}           Claude, Cursor, Windsurf, Gemini, Cline and most others; also as an array
//	{"servers": {"linear": {…}}, "inputs": […]}      VS Code, also below "mcp"
//	{"context_servers": {"linear": {…}}}             Zed
//	[mcp_servers.linear]                             Codex, in TOML
//	{"linear": {"url": …}}   [{"name": "linear", …}]   {"url": …}   without the envelope: many, an array, one
//	{"servers": [{"server": {"name": …, "remotes": […]}, "_meta": {…}}], "metadata": …}    an MCP registry's list, or one server of it
//
// [Read] removes comments and fences (strictjson.go), finds the servers (shape.go) and reads each by itself
// (server.go, address.go, auth.go, headers.go, stdio.go, listing.go). It is lenient about the form and exact
// about the rest: an entry is accepted or refused with its line and a sentence. A credential becomes a
// [connectors.Secret]; a header that looks secret is never stored as a plain one. A placeholder such as
// ${TOKEN} is no secret: the entry states what is missing. No sentence repeats a value.
//
// [Write] (write.go) writes such a file of connectors, with placeholders in place of secrets.
//
// Whether an entry makes a new connector or changes one is decided by package manage.
package clientconfig
