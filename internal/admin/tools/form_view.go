package tools

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// toView is the form with its values and errors.
func (f toolForm) toView(ctx context.Context, values url.Values, wrong map[string]i18n.Key) []templates.TryField {
	return fieldViews(ctx, f.fields, values, wrong)
}

func fieldViews(ctx context.Context, fields []formField, values url.Values, wrong map[string]i18n.Key) []templates.TryField {
	views := make([]templates.TryField, len(fields))
	for i, f := range fields {
		views[i] = f.toView(ctx, values, wrong)
	}
	return views
}

func (f formField) toView(ctx context.Context, values url.Values, wrong map[string]i18n.Key) templates.TryField {
	v := templates.TryField{
		Name:     f.name,
		Label:    shell.ShortenText(f.key, shell.MaxName),
		Needed:   f.required,
		Required: f.alwaysRequired && !f.nullable,
		Help:     shell.ShortenText(f.helpText(), shell.MaxDescription),
		Notes:    shell.ShortenText(strings.Join(f.inputNotes(ctx), " · "), shell.MaxNote),
		Value:    values.Get(f.name),
		Error:    i18n.T(ctx, wrong[f.name]),
	}
	switch f.kind {
	case fieldGroup:
		v.Kind, v.Fields = templates.AskGroup, fieldViews(ctx, f.fields, values, wrong)
	case fieldFlag:
		v.Kind, v.Required = templates.AskFlag, false // an unticked checkbox means false
	case fieldChoice:
		v.Kind, v.Options = templates.AskChoice, f.toOptions()
	case fieldSeveral:
		v.Kind, v.Options, v.Values = templates.AskSeveral, f.toOptions()[1:], values[f.name]
	case fieldLines:
		v.Kind, v.Rows, v.Required = templates.AskText, 3, false
	case fieldJSON:
		v.Kind, v.Rows, v.Mono = templates.AskText, 3, true
	default:
		f.setLineInput(&v)
	}
	return v
}

// setLineInput sets the control of a text or number.
func (f formField) setLineInput(v *templates.TryField) {
	v.Kind, v.Type = templates.AskLine, "text"
	v.MaxLength = plainNumber(f.schema.maxLength)
	switch {
	case f.kind != fieldText:
		v.Type, v.Step = "number", map[bool]string{true: "1", false: "any"}[f.kind == fieldInteger]
		v.Min, v.Max, v.MaxLength = plainNumber(f.schema.minimum), plainNumber(f.schema.maximum), ""
	case f.schema.writeOnly || f.schema.format == "password":
		v.Type, v.Value = "password", ""
	case f.isLong(), strings.Contains(v.Value, "\n") && f.isPlainText(): // a single-line control would drop line breaks
		v.Kind, v.Type, v.Rows = templates.AskText, "", 3
	default:
		v.Type, v.Step = inputType(f.schema.format)
	}
}

// isPlainText reports whether browsers have no special control for the format.
func (f formField) isPlainText() bool {
	kind, _ := inputType(f.schema.format)
	return kind == "text"
}

// inputType is the HTML input type of a format.
func inputType(format string) (kind, step string) {
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

// plainNumber is a number in the syntax of HTML attributes; empty for any other.
func plainNumber(raw string) string {
	text, ok := parseNumeral(strings.TrimSpace(raw), anyNumber)
	if !ok || len(text) > 20 {
		return ""
	}
	return text
}

func (f formField) helpText() string {
	if f.schema.description != "" {
		return f.schema.description
	}
	return f.schema.title
}

// inputNotes say how to fill in the field.
func (f formField) inputNotes(ctx context.Context) []string {
	var notes []string
	switch f.kind {
	case fieldLines:
		notes = append(notes, i18n.T(ctx, "One per line."))
	case fieldJSON:
		notes = append(notes, i18n.T(ctx, "As JSON."))
	case fieldText:
		if f.schema.format == "date-time" {
			notes = append(notes, "UTC")
		}
	}
	// A select shows its choices, and the browser has controls for formats, so those notes are omitted.
	for _, note := range f.schema.ruleNotes(ctx) {
		known := strings.HasPrefix(note, "one of ") || strings.HasPrefix(note, "format date")
		if !known && !(f.alwaysSent && strings.HasPrefix(note, "default ")) {
			notes = append(notes, note)
		}
	}
	return notes
}

// toOptions are the choices after an empty one, without which a browser would preselect the first.
func (f formField) toOptions() []templates.Option {
	options := []templates.Option{{Value: "", Label: "–"}}
	for _, c := range f.choices {
		options = append(options, templates.Option{Value: c.value, Label: shell.ShortenText(c.label, shell.MaxName)})
	}
	return slices.Clip(options)
}
