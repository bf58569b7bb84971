package templates

import (
	"context"

	"patchbay/internal/words"
)

// TryIt asks for a tool's arguments and shows what it answers. Its form sends agent, definition, as ("form" or "json"), and either
// the fields or json to Action; with do absent it runs the tool, with do=json or do=form it only changes the way of asking.
type TryIt struct {
	Action     string
	Agents     []Option
	Form       Form   // agent, json, and what is wrong with the whole
	Definition string // the hash of the definition that the fields were made from
	AsJSON     bool
	OnlyJSON   string // why there are no fields; empty: there may be
	Fields     []TryField
	Instead    string // why it cannot be tried; empty: it can
	Mend       *Link
	Result     *Result // nil: not run yet
}

// FieldKind says how a field asks.
type FieldKind string

// The kinds of fields.
const (
	AskLine    FieldKind = "line"    // an input, of type Type
	AskText    FieldKind = "text"    // a text area
	AskChoice  FieldKind = "choice"  // one of Options
	AskSeveral FieldKind = "several" // any of Options
	AskFlag    FieldKind = "flag"    // yes or no
	AskGroup   FieldKind = "group"   // the fields below it
)

// TryField is one field of the form. Its texts are remote.
type TryField struct {
	Name      string // of the control
	Label     string
	Kind      FieldKind
	Type      string // "text", "number", "date", "datetime-local", "time", "email", "url", "password"
	Mono      bool
	Required  bool // the browser insists on it
	Needed    bool // it is asked for, where its group is given
	Help      string
	Notes     string
	Rows      int
	Min, Max  string
	Step      string
	MaxLength string
	Value     string
	Values    []string // of AskSeveral
	Options   []Option
	Error     string
	Fields    []TryField
}

func (f TryField) id() string { return "try-" + f.Name }

// attributes are those that inputs, text areas and selects share.
func (f TryField) attributes() map[string]any {
	a := map[string]any{"id": f.id(), "name": f.Name, "aria-invalid": "false", "required": f.Required}
	if f.Error != "" {
		a["aria-invalid"] = "true"
	}
	set := func(name, value string) {
		if value != "" {
			a[name] = value
		}
	}
	set("aria-describedby", f.describedBy())
	if f.Kind == AskChoice {
		return a
	}
	a["autocomplete"] = "off"
	set("maxlength", f.MaxLength)
	if f.Kind == AskLine {
		set("min", f.Min)
		set("max", f.Max)
		set("step", f.Step)
	}
	if f.Mono {
		a["spellcheck"], a["autocapitalize"] = "false", "none"
	}
	return a
}

func (f TryField) describedBy() string {
	var ids string
	if f.Help != "" || f.Notes != "" {
		ids = f.id() + "-help"
	}
	if f.Error != "" {
		ids += " " + f.id() + "-error"
	}
	return ids
}

func (f TryField) holds(value string) bool {
	for _, v := range f.Values {
		if v == value {
			return true
		}
	}
	return false
}

func (t TryIt) as() string {
	if t.AsJSON {
		return "json"
	}
	return "form"
}

func (t TryIt) jsonHelp(ctx context.Context) string {
	if t.OnlyJSON != "" {
		return t.OnlyJSON
	}
	return words.T(ctx, "One JSON object. It is sent as it is written.")
}
