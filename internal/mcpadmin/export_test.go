package mcpadmin

import "patchbay/internal/connectors"

// Row is what the table says of a tool.
type Row struct {
	Name     string
	May      connectors.Permission
	Asks     []string
	Confirms bool // asks a person first

	Dangerous bool // a person confirms in a browser who they are
}

// Table is the table of tools.
func Table() []Row {
	var rows []Row
	for _, t := range tools {
		rows = append(rows, Row{t.name, t.may, t.asks, t.confirm != nil, t.dangerous})
	}
	return rows
}
