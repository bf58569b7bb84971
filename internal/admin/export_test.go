package admin

import "patchbay/internal/admin/shell"

// Danger is a row of shell.ConfirmRules.
type Danger struct {
	Asks    bool
	Because string
}

// Dangers is shell.ConfirmRules.
func Dangers() map[string]Danger {
	rows := map[string]Danger{}
	for route, d := range shell.ConfirmRules {
		rows[route] = Danger{Asks: d.Confirms, Because: d.Reason}
	}
	return rows
}
