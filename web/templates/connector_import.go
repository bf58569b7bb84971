package templates

import (
	"context"

	"patchbay/internal/words"
)

// ConnectorImportPage takes a document of MCP servers. Its form posts to /connectors/import, and with the preview button to
// /connectors/import/preview. What was pasted holds secrets, and never comes back.
type ConnectorImportPage struct {
	Frame   Frame
	Form    Form
	Preview *ImportTable // nil: not looked at
}

// ConnectorImportedPage tells what became of a document.
type ConnectorImportedPage struct {
	Frame Frame
	Table ImportTable
}

// ImportTable tells of each server of a document what became of it, or what would.
type ImportTable struct {
	Title string // "Will create 2 connectors and refuse 1 server"
	Kind  StateKind
	Dry   bool
	Rows  []ImportRow
}

// ImportRow is one server of a document.
type ImportRow struct {
	Name    string
	Href    string // of the connector; empty: there is none yet
	Address string // of the server; empty: it has none
	Line    string // "line 12"
	State   State
	Said    []string // why, and what else is to be known
	Mend    *Link    // where what is missing is set; nil: nothing is
}

// exportOptions are the clients that a file can be written for.
func exportOptions(ctx context.Context) []Option {
	return []Option{
		{"claude", "Claude"},
		{"cursor", "Cursor"},
		{"vscode", "VS Code"},
		{"generic", words.T(ctx, "Another Patchbay")},
	}
}

const importExample = `{"mcpServers": {"linear": {"url": "https://mcp.linear.app/mcp"}}}`
