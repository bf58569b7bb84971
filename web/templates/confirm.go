package templates

// ConfirmPage asks the person to confirm their identity before a dangerous action. Its form sends
// confirm_password, confirm_code and the held fields to Action.
type ConfirmPage struct {
	Frame   Frame
	Form    Form
	Email   string // of the person
	Action  string // empty: no action waits
	Held    []HiddenField
	Dropped bool   // typed secrets were not held
	Factor  bool   // a code is required too
	BySSO   bool   // the SSO provider confirms
	Back    string // where the action began
}

// HiddenField is a field of the held form.
type HiddenField struct{ Name, Value string }
