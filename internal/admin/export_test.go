package admin

import "patchbay/internal/admin/shell"

// Danger is a row of shell.ConfirmRules.
type Danger struct {
	Asks    bool
	Afresh  string
	Because string
}

// Dangers is shell.ConfirmRules.
func Dangers() map[string]Danger {
	rows := map[string]Danger{}
	for route, d := range shell.ConfirmRules {
		rows[route] = Danger{Asks: d.Confirms, Afresh: d.StartPage, Because: d.Reason}
	}
	return rows
}
