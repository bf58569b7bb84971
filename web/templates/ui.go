package templates

// confirmProps is a confirmation dialog before a deletion or a change for all.
type confirmProps struct {
	ID      string // unique on the page
	Button  string // "Delete"
	Subject string // "Linear": distinguishes equal buttons for screen readers
	Variant string // of the opening button
	Title   string // "Delete Linear?"
	Yes     string // "Delete connector"
	Action  string
	Mild    bool // nothing is lost: the button has its usual look
}

// buttonVariant is the look of the confirming button.
func (c confirmProps) buttonVariant() string {
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
