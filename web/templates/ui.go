package templates

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// confirmProps is a confirmation dialog before a deletion or a change for all.
type confirmProps struct {
	ID      string // unique on the page
	Button  string // "Delete"
	Subject string // "Linear": distinguishes equal buttons for screen readers
	Variant string // of the opening button
	Title   string // "Delete Linear?"
	Yes     string // "Delete connector"
	Action  string
	Fields  []HiddenField
	Mild    bool // nothing is lost: the button has its usual look
}

// buttonVariant is the look of the confirming button.
func (c confirmProps) buttonVariant() string {
	if c.Mild {
		return "primary"
	}
	return "danger"
}

var breakAfter = strings.NewReplacer("/", "/<wbr>", "_", "_<wbr>", ":", "<wbr>:")

// addressText is an address or a name that breaks after a slash, before a port and after an underscore, and not in a word. A template
// would put spaces around the breaks.
func addressText(text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		scheme, rest, found := strings.Cut(templ.EscapeString(text), "://")
		if !found {
			scheme, rest = "", scheme
		} else {
			scheme += "://"
		}
		_, err := io.WriteString(w, scheme+breakAfter.Replace(rest))
		return err
	})
}

func attentionIcon(kind StateKind) string {
	if kind == StateBad {
		return "circle-alert"
	}
	return "triangle-alert"
}

// enabledProps is the control that disables something, or enables it again. It sends enabled, "true" or "false".
type enabledProps struct {
	Name    string // "Linear"
	Action  string
	Enabled bool
	Off     string // what disabling does
	On      string // what enabling does
	Yes     string // "Disable connector"
}
