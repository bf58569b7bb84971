package templates

// AskPage asks whether the person is sure. Its form sends the held fields to Action.
type AskPage struct {
	Frame  Frame
	Title  string // "Accept search?"
	Text   string
	Lists  []AskList
	Action string
	Held   []HiddenField
	Yes    string // of the button
	Danger bool   // Cancel is the primary button
	Other  *AskOther
	Back   string // where the action began
}

// AskList is a part of what the action affects.
type AskList struct {
	Label string
	Items []string
	Quote bool // the items are a server's words
}

// AskOther is a second way to say yes: the same form with one more field.
type AskOther struct {
	Text, Name, Value string
}

// askVariant is the look of the button that says yes.
func askVariant(danger bool) string {
	if danger {
		return "danger"
	}
	return "primary"
}
