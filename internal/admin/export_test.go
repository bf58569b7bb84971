package admin

// Danger is a row of the table of dangers.
type Danger struct {
	Asks    bool
	Afresh  string
	Because string
}

// Dangers is the table of dangers.
func Dangers() map[string]Danger {
	rows := map[string]Danger{}
	for route, d := range dangers {
		rows[route] = Danger{Asks: d.asks, Afresh: d.afresh, Because: d.because}
	}
	return rows
}
