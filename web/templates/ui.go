package templates

// confirmProps is a question before something is gone.
type confirmProps struct {
	ID      string // unique on the page
	Button  string // "Delete"
	Subject string // "Linear": tells equal buttons apart for those who cannot see their rows
	Variant string // of the opening button
	Title   string // "Delete Linear?"
	Yes     string // "Delete connector"
	Action  string
}

func attentionIcon(kind StateKind) string {
	if kind == StateBad {
		return "circle-alert"
	}
	return "triangle-alert"
}
