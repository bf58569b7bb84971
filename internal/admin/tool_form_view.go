package admin

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/words"
	"patchbay/web/templates"
)

// view is the form with what its fields hold, and what is wrong with them.
func (f toolForm) view(ctx context.Context, values url.Values, wrong map[string]words.Key) []templates.TryField {
	return fieldViews(ctx, f.fields, values, wrong)
}

func fieldViews(ctx context.Context, fields []formField, values url.Values, wrong map[string]words.Key) []templates.TryField {
	views := make([]templates.TryField, len(fields))
	for i, f := range fields {
		views[i] = f.view(ctx, values, wrong)
	}
	return views
}

func (f formField) view(ctx context.Context, values url.Values, wrong map[string]words.Key) templates.TryField {
	v := templates.TryField{
		Name:     f.name,
		Label:    shorten(f.key, maxName),
		Needed:   f.required,
		Required: f.insists && !f.nullable,
		Help:     shorten(f.help(), maxAbout),
		Notes:    shorten(strings.Join(f.notes(ctx), " · "), maxNote),
		Value:    values.Get(f.name),
		Error:    words.T(ctx, wrong[f.name]),
	}
	switch f.asks {
	case asksGroup:
		v.Kind, v.Fields = templates.AskGroup, fieldViews(ctx, f.fields, values, wrong)
	case asksFlag:
		v.Kind, v.Required = templates.AskFlag, false // a box that is not ticked says no
	case asksChoice:
		v.Kind, v.Options = templates.AskChoice, f.options()
	case asksSeveral:
		v.Kind, v.Options, v.Values = templates.AskSeveral, f.options()[1:], values[f.name]
	case asksLines:
		v.Kind, v.Rows, v.Required = templates.AskText, 3, false
	case asksJSON:
		v.Kind, v.Rows, v.Mono = templates.AskText, 3, true
	default:
		f.line(&v)
	}
	return v
}

// line is a field for a text or a number.
func (f formField) line(v *templates.TryField) {
	v.Kind, v.Type = templates.AskLine, "text"
	v.MaxLength = bound(f.schema.MaxLength)
	switch {
	case f.asks != asksText:
		v.Type, v.Step = "number", map[bool]string{true: "1", false: "any"}[f.asks == asksInteger]
		v.Min, v.Max, v.MaxLength = bound(f.schema.Minimum), bound(f.schema.Maximum), ""
	case f.schema.WriteOnly.value || f.schema.Format.value == "password":
		v.Type, v.Value = "password", ""
	case f.long(), strings.Contains(v.Value, "\n") && f.plain(): // a field of one line would drop the others
		v.Kind, v.Type, v.Rows = templates.AskText, "", 3
	default:
		v.Type, v.Step = inputOf(f.schema.Format.value)
	}
}

// plain tells whether the browser has no better field than one for any text.
func (f formField) plain() bool {
	kind, _ := inputOf(f.schema.Format.value)
	return kind == "text"
}

// inputOf is the browser's field for a format.
func inputOf(format string) (kind, step string) {
	switch format {
	case "date":
		return "date", ""
	case "date-time":
		return "datetime-local", "any"
	case "email":
		return "email", ""
	case "uri":
		return "url", ""
	default:
		return "text", ""
	}
}

// bound is a number where it is a plain one: a browser takes no other.
func bound(raw []byte) string {
	text, ok := numeral(strings.TrimSpace(string(raw)), anyNumber)
	if !ok || len(text) > 20 {
		return ""
	}
	return text
}

func (f formField) help() string {
	if f.schema.Description.value != "" {
		return f.schema.Description.value
	}
	return f.schema.Title.value
}

// notes say how the field is filled in.
func (f formField) notes(ctx context.Context) []string {
	var notes []string
	switch f.asks {
	case asksLines:
		notes = append(notes, words.T(ctx, "One per line."))
	case asksJSON:
		notes = append(notes, words.T(ctx, "As JSON."))
	case asksText:
		if f.schema.Format.value == "date-time" {
			notes = append(notes, "UTC")
		}
	}
	// What a select shows already, and formats that the browser has a field for, need no words.
	for _, note := range f.schema.notes(ctx) {
		known := strings.HasPrefix(note, "one of ") || strings.HasPrefix(note, "format date")
		if !known && !(f.top && strings.HasPrefix(note, "default ")) {
			notes = append(notes, note)
		}
	}
	return notes
}

// options are the choices, with that of none first: without it a browser would choose for the person.
func (f formField) options() []templates.Option {
	options := []templates.Option{{Value: "", Label: "–"}}
	for _, c := range f.choices {
		options = append(options, templates.Option{Value: c.value, Label: shorten(c.label, maxName)})
	}
	return slices.Clip(options)
}
