package templates

// ConfirmPage asks whoever is about to do something dangerous to confirm who they are. Its form sends confirm_password, confirm_code and what is
// held to Action.
type ConfirmPage struct {
	Frame   Frame
	Form    Form
	Email   string // whose password
	Action  string // empty: nothing waits
	Held    []HeldField
	Dropped bool   // secrets were typed, and are not held
	Factor  bool   // a code is asked for, too
	BySSO   bool   // the provider asks
	Back    string // where the act was begun
}

// HeldField is a field of a form that waits.
type HeldField struct{ Name, Value string }
