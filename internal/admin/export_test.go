package admin

// Danger is a row of confirmRules.
type Danger struct {
	Asks    bool
	Afresh  string
	Because string
}

// Dangers is confirmRules.
func Dangers() map[string]Danger {
	rows := map[string]Danger{}
	for route, d := range confirmRules {
		rows[route] = Danger{Asks: d.confirms, Afresh: d.startPage, Because: d.reason}
	}
	return rows
}
