package templates

import (
	"context"

	"patchbay/internal/i18n"
)

// TryIt is the form for a tool's arguments, with the result. It sends agent, definition, as ("form" or "json"),
// and either the fields or json to Action. Without do it calls the tool; do=json or do=form switches the mode.
type TryIt struct {
	Action     string
	Agents     []Option       // the ways to run it: as an agent, or as the person
	Own        bool           // the person may run it as themselves
	Form       Form           // agent, json, timeout_ms, and the error of the whole form
	Timeouts   DurationChoice // up to the connector's
	Definition string         // hash of the definition behind the fields
	AsJSON     bool
	OnlyJSON   string // why there are no fields; empty: there may be
	Fields     []TryField
	Instead    string // why it cannot be tried; empty: it can
	Repair     *Link
	Result     *Result      // nil: not called yet
	Question   *TryQuestion // asks for a confirmation; nil: none is needed
}

// TryQuestion asks the person to confirm a call. The form sends Value as confirm.
type TryQuestion struct{ Text, Value string }

// TryProgress is how far a trial is, while it runs or waits for approval.
type TryProgress struct {
	Call     CallRow
	Approval string // address of the approval; empty: it does not wait
}

// FieldKind is the kind of a field's control.
type FieldKind string

// The kinds of controls.
const (
	AskLine    FieldKind = "line"    // an input, of type Type
	AskText    FieldKind = "text"    // a textarea
	AskChoice  FieldKind = "choice"  // one of Options
	AskSeveral FieldKind = "several" // any of Options
	AskFlag    FieldKind = "flag"    // true or false
	AskGroup   FieldKind = "group"   // with fields below it
)

// TryField is one field of the form. Its texts are remote.
type TryField struct {
	Name      string // of the control
	Label     string
	Kind      FieldKind
	Type      string // "text", "number", "date", "datetime-local", "time", "email", "url", "password"
	Mono      bool
	Required  bool // required by the browser
	Needed    bool // required if its group is given
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

// attributes are shared by inputs, textareas and selects.
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

func (f TryField) hasValue(value string) bool {
	for _, v := range f.Values {
		if v == value {
			return true
		}
	}
	return false
}

func (t TryIt) mode() string {
	if t.AsJSON {
		return "json"
	}
	return "form"
}

func (t TryIt) jsonHelp(ctx context.Context) string {
	if t.OnlyJSON != "" {
		return t.OnlyJSON
	}
	return i18n.T(ctx, "One JSON object, sent as is.")
}
