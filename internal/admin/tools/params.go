package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/jsonschema"
	"patchbay/web/templates"
)

// Bounds of a parameter table. A schema comes from a remote server in any size and depth, and is shown whole
// beside the table.
const (
	maxParams     = 100
	maxParamDepth = 4
)

// listParams lists the parameters of an input schema in its order, nested ones below their parent. follow resolves
// references within the schema.
func (d *schemaDocument) listParams(ctx context.Context, follow bool) []templates.Param {
	if !follow {
		d = &schemaDocument{root: d.root, isWhole: d.isWhole, schemas: d.schemas}
	}
	s, _ := d.resolve(d.root)
	list := d.appendParams(ctx, s, "", 1, nil)
	if !d.isWhole && len(list) < maxParams {
		list = append(list, templates.Param{Name: "…", Description: i18n.T(ctx, "Schema too large to show all parameters.")})
	}
	return list
}

func (d *schemaDocument) appendParams(ctx context.Context, s pageSchema, prefix string, depth int, list []templates.Param) []templates.Param {
	for _, property := range s.properties {
		if len(list) >= maxParams {
			return list
		}
		name := shell.FirstRunes(prefix+shell.FirstRunes(property.Name, shell.MaxName+1), shell.MaxName+1) // more is not shown
		p, nullable := d.resolve(property.Value)
		list = append(list, templates.Param{
			Name:        shell.ShortenText(name, shell.MaxName),
			Type:        d.typeName(ctx, p, nullable),
			Required:    s.required[property.Name],
			Description: shell.ShortenText(p.description, shell.MaxDescription),
			Notes:       p.ruleNotes(ctx),
		})
		if depth == maxParamDepth {
			continue
		}
		list = d.appendParams(ctx, p, name+".", depth+1, list)
		if p.items != nil {
			items, _ := d.resolve(p.items)
			list = d.appendParams(ctx, items, name+"[].", depth+1, list)
		}
	}
	return list
}

func (d *schemaDocument) typeName(ctx context.Context, s pageSchema, nullable bool) string {
	types := s.types
	if items, _ := d.resolve(s.items); slices.Equal(types, []string{"array"}) && len(items.types) > 0 {
		types = []string{i18n.T(ctx, "array of %s", strings.Join(items.types, " "+i18n.T(ctx, "or")+" "))}
	}
	if nullable && len(types) > 0 {
		types = append(slices.Clone(types), "null")
	}
	return shell.ShortenText(strings.Join(types, " "+i18n.T(ctx, "or")+" "), shell.MaxName)
}

func (s pageSchema) ruleNotes(ctx context.Context) []string {
	var notes []string
	if len(s.enum) > 0 {
		var choices []string
		for size := 0; len(choices) < len(s.enum) && size <= utf8.UTFMax*shell.MaxNote; { // more are not shown
			choice := shell.FirstRunes(FormatValue(s.enum[len(choices)].Raw), shell.MaxNote+1)
			choices, size = append(choices, choice), size+len(choice)+len(", ")
		}
		notes = append(notes, i18n.T(ctx, "one of %s", strings.Join(choices, ", ")))
	}
	if len(s.defaultValue) > 0 {
		notes = append(notes, i18n.T(ctx, "default %s", FormatValue(s.defaultValue)))
	}
	switch lowest, highest := FormatValue(s.minimum), FormatValue(s.maximum); {
	case lowest != "" && highest != "":
		notes = append(notes, lowest+"–"+highest)
	case lowest != "":
		notes = append(notes, i18n.T(ctx, "at least %s", lowest))
	case highest != "":
		notes = append(notes, i18n.T(ctx, "at most %s", highest))
	}
	notes = append(notes, countNote(ctx, s.minLength, s.maxLength, i18n.T(ctx, "character"), i18n.T(ctx, "characters"))...)
	notes = append(notes, countNote(ctx, s.minItems, s.maxItems, i18n.T(ctx, "item"), i18n.T(ctx, "items"))...)
	if s.format != "" {
		notes = append(notes, i18n.T(ctx, "format %s", shell.FirstRunes(s.format, shell.MaxNote+1)))
	}
	if s.pattern != "" {
		notes = append(notes, i18n.T(ctx, "matches %s", shell.FirstRunes(s.pattern, shell.MaxNote+1)))
	}
	for i, n := range notes {
		notes[i] = shell.ShortenText(n, shell.MaxNote)
	}
	return notes
}

// countNote is the note of a bounded number of things: "3–200 characters".
func countNote(ctx context.Context, lowest, highest, thing, things string) []string {
	lowest, highest = FormatValue(lowest), FormatValue(highest)
	if cmp.Or(highest, lowest) == "1" {
		things = thing
	}
	switch {
	case lowest != "" && lowest != "0" && highest != "":
		return []string{lowest + "–" + highest + " " + things}
	case lowest != "" && lowest != "0":
		return []string{i18n.T(ctx, "at least %s", lowest+" "+things)}
	case highest != "":
		return []string{i18n.T(ctx, "at most %s", highest+" "+things)}
	}
	return nil
}

// maxFormatted bounds a value that is formatted, in bytes. Only the beginning of a longer one is.
const maxFormatted = 4 << 10

// FormatValue formats a valid JSON value without white space around it: strings without quotes, numbers as written.
func FormatValue(raw string) string {
	if len(raw) > maxFormatted {
		return formatBeginning(raw)
	}
	if strings.HasPrefix(raw, `"`) && len(raw) > len(`""`) {
		return jsonschema.Unquote(raw)
	}
	return compactJSON(raw)
}

// formatBeginning formats the beginning of a valid JSON value that is long.
func formatBeginning(raw string) string {
	const maxEscape = len(`\u0000`)
	for end := maxFormatted; raw[0] == '"' && end >= maxFormatted-maxEscape; end-- {
		var s string
		if json.Unmarshal([]byte(raw[:end]+`"`), &s) == nil { // it does not end within an escape
			return s
		}
	}
	return raw[:maxFormatted]
}
