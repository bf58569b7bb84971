package mcpadmin

import "patchbay/internal/connectors"

// Row is a row of the table of tools.
type Row struct {
	Name     string
	May      connectors.Permission
	Asks     []string
	Confirms bool // needs a confirmation

	Dangerous bool // needs the member's own confirmation in a browser
}

// Table returns the table of tools.
func Table() []Row {
	var rows []Row
	for _, t := range tools {
		rows = append(rows, Row{t.name, t.permission, t.operations, t.confirm != nil, t.dangerous})
	}
	return rows
}
