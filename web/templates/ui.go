package templates

// confirmProps is a question before something is gone, or is another for everybody.
type confirmProps struct {
	ID      string // unique on the page
	Button  string // "Delete"
	Subject string // "Linear": tells equal buttons apart for those who cannot see their rows
	Variant string // of the opening button
	Title   string // "Delete Linear?"
	Yes     string // "Delete connector"
	Action  string
	Mild    bool // nothing is lost by a yes: its button looks like any other
}

// yes is the look of the button that does it.
func (c confirmProps) yes() string {
	if c.Mild {
		return "primary"
	}
	return "danger"
}

func attentionIcon(kind StateKind) string {
	if kind == StateBad {
		return "circle-alert"
	}
	return "triangle-alert"
}
