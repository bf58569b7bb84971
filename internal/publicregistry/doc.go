// Package publicregistry publishes a tenant's connectors to MCP clients, as the API of MCP registries has it
// (GET /v0.1/servers). VS Code, GitHub Copilot and others take the address of such a registry in their settings.
//
//	edit.go      what admins do: create, change, rotate the address, delete
//	serve.go     the requests of clients, and which are answered
//	request.go   what a path and a query ask for
//	list.go      pages of entries
//	document.go  the documents (server.json, and the list of them)
//
// A registry's address is a secret in the path, /registry/<secret>: most clients send no credentials. It is shown
// once, as tokens are, and its SHA-256 is stored. An unknown, a rotated and a malformed address cost the same hash
// and the same statement, and get the same answer. The list names no server behind a connector: entries have the
// connector's name, its description by the admin, and its address at the gateway, which asks for a token.
package publicregistry
