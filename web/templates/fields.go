package templates

import (
	"context"
	"slices"
	"strings"

	"patchbay/internal/i18n"
)

// fieldProps is one field of a form.
type fieldProps struct {
	Form         Form
	In           string // distinguishes equal forms on one page; part of the ids
	Name         string
	Label        string
	Help         string
	Type         string // of the input; empty: text
	InputMode    string // of the keyboard on a touch screen
	Rows         int    // over 0: a textarea
	Options      []Option
	Optional     bool
	Later        bool // may be left empty, but is not called optional: it is needed in the end, or empty is a choice
	Mono         bool
	Secret       bool
	Focus        bool
	Placeholder  string
	Autocomplete string
	Min, Max     string
	Step         string
	MaxLength    string
}

// DurationChoice is what a duration field offers: durations as numbers of the field's unit, and units of a custom one.
type DurationChoice struct{ Options, Units []Option }

func (f fieldProps) id() string {
	id := "field-" + strings.NewReplacer(".", "-", "_", "-").Replace(f.Name)
	if f.In != "" {
		id += "-" + f.In
	}
	return id
}

func (f fieldProps) withOptions(options []Option) fieldProps {
	f.Options = options
	return f
}

func (f fieldProps) inputType() string {
	switch {
	case f.Secret:
		return "password"
	case f.Type != "":
		return f.Type
	}
	return "text"
}

// value is the field's value; always empty for a secret.
func (f fieldProps) value() string {
	if f.Secret {
		return ""
	}
	return f.Form.Value(f.Name)
}

func (f fieldProps) ariaInvalid() string {
	if f.Form.Error(f.Name) != "" {
		return "true"
	}
	return "false"
}

func (f fieldProps) describedBy() string {
	var ids []string
	if f.Help != "" {
		ids = append(ids, f.id()+"-help")
	}
	if f.Form.Error(f.Name) != "" {
		ids = append(ids, f.id()+"-error")
	}
	return strings.Join(ids, " ")
}

// isRequired reports whether the browser refuses an empty value. It is a choice of its own in some lists.
func (f fieldProps) isRequired() bool {
	return !f.Optional && !f.Later && !slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == "" })
}

// attributes are shared by inputs, textareas and selects.
func (f fieldProps) attributes() map[string]any {
	a := map[string]any{"id": f.id(), "name": f.Name, "aria-invalid": f.ariaInvalid(), "required": f.isRequired(), "autofocus": f.Focus}
	set := func(name, value string) {
		if value != "" {
			a[name] = value
		}
	}
	set("aria-describedby", f.describedBy())
	set("autocomplete", f.Autocomplete)
	if len(f.Options) > 0 {
		return a
	}
	set("placeholder", f.Placeholder)
	set("inputmode", f.InputMode)
	set("maxlength", f.MaxLength)
	if f.Mono || f.Secret {
		a["spellcheck"], a["autocapitalize"] = "false", "none"
	}
	return a
}

// checkProps gives a checkbox its accessible description.
func checkProps(form Form, name string) fieldProps {
	return fieldProps{Form: form, Name: name, Optional: true, Help: "below"}
}

func slugHelp(ctx context.Context, use string, fresh bool) string {
	if fresh {
		return i18n.T(ctx, "%s Default: derived from the name.", use)
	}
	return use
}

// areaText is a textarea's content: browsers drop a line break at its beginning.
func areaText(text string) string {
	if strings.HasPrefix(text, "\n") {
		return "\n" + text
	}
	return text
}
