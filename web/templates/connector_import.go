package templates

import (
	"context"

	"patchbay/internal/i18n"
)

// ConnectorImportPage imports a document of MCP servers. Its form posts to /connectors/import, and with the
// preview button to /connectors/import/preview. The pasted text has secrets, and is never shown again.
type ConnectorImportPage struct {
	Frame   Frame
	Form    Form
	Preview *ImportTable // nil: no preview yet
}

// ConnectorImportedPage is the result of an import.
type ConnectorImportedPage struct {
	Frame Frame
	Line  string // "Syncing 3 connectors."
	Table ImportTable
}

// ImportTable is the outcome for each server of a document, or its preview.
type ImportTable struct {
	Title string // "Will create 2 connectors and refuse 1 server"
	Kind  StateKind
	Dry   bool
	Rows  []ImportRow

	Imports int // connectors that are created or updated
}

// ImportRow is one server of a document.
type ImportRow struct {
	Name    string
	Href    string // of the connector; empty: none yet
	Address string // of the server; empty: none
	Line    string // "line 12"
	State   State
	Notes   []string // reasons and remarks
	Repair  *Link    // to where a missing value is set; nil: none is missing
}

// exportOptions are the clients with a file format.
func exportOptions(ctx context.Context) []Option {
	return []Option{
		{"claude", "Claude"},
		{"cursor", "Cursor"},
		{"vscode", "VS Code"},
		{"windsurf", "Windsurf"},
		{"gemini", "Gemini CLI"},
		{"zed", "Zed"},
		{"codex", "Codex"},
		{"generic", i18n.T(ctx, "Another Patchbay")},
	}
}

const importExample = `{"mcpServers": {"linear": {"url": "https://mcp.linear.app/mcp"}}}`
