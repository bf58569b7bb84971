package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// Bounds of a parameter table. A schema comes from a remote server in any size and depth, and is shown whole
// beside the table.
const (
	maxParams     = 100
	maxParamDepth = 4

	// In characters.
	maxName        = 200 // of a title, a parameter or a type
	maxDescription = 500 // of a description
	maxNote        = 200
)

// readParams lists the parameters of an input schema in its order, nested ones below their parent. follow
// resolves references within the schema.
func readParams(ctx context.Context, raw json.RawMessage, follow bool) []templates.Param {
	var d schemaDocument
	if follow && len(raw) <= maxFormSchema { // each reference parses the whole schema
		d = newDocument(raw)
	}
	s, _ := d.resolve(raw)
	return d.appendParams(ctx, s, "", 1, nil)
}

func (d schemaDocument) appendParams(ctx context.Context, s pageSchema, prefix string, depth int, list []templates.Param) []templates.Param {
	for _, property := range s.Properties {
		if len(list) >= maxParams {
			return list
		}
		name := prefix + property.name
		p, nullable := d.resolve(property.value)
		list = append(list, templates.Param{
			Name:        shortenText(name, maxName),
			Type:        d.typeName(ctx, p, nullable),
			Required:    s.isRequired(property.name),
			Description: shortenText(p.Description.value, maxDescription),
			Notes:       p.ruleNotes(ctx),
		})
		if depth == maxParamDepth {
			continue
		}
		list = d.appendParams(ctx, p, name+".", depth+1, list)
		if len(p.Items) > 0 {
			items, _ := d.resolve(p.Items)
			list = d.appendParams(ctx, items, name+"[].", depth+1, list)
		}
	}
	return list
}

func (d schemaDocument) typeName(ctx context.Context, s pageSchema, nullable bool) string {
	types := s.Type
	if items, _ := d.resolve(s.Items); slices.Equal(types, typeNames{"array"}) && len(items.Type) > 0 {
		types = typeNames{i18n.T(ctx, "array of %s", strings.Join(items.Type, " "+i18n.T(ctx, "or")+" "))}
	}
	if nullable && len(types) > 0 {
		types = append(slices.Clone(types), "null")
	}
	return shortenText(strings.Join(types, " "+i18n.T(ctx, "or")+" "), maxName)
}

func (s pageSchema) ruleNotes(ctx context.Context) []string {
	var notes []string
	if len(s.Enum.value) > 0 {
		choices := make([]string, len(s.Enum.value))
		for i, v := range s.Enum.value {
			choices[i] = formatValue(v)
		}
		notes = append(notes, i18n.T(ctx, "one of %s", strings.Join(choices, ", ")))
	}
	if len(s.Default) > 0 {
		notes = append(notes, i18n.T(ctx, "default %s", formatValue(s.Default)))
	}
	switch lowest, highest := formatValue(s.Minimum), formatValue(s.Maximum); {
	case lowest != "" && highest != "":
		notes = append(notes, lowest+"–"+highest)
	case lowest != "":
		notes = append(notes, i18n.T(ctx, "at least %s", lowest))
	case highest != "":
		notes = append(notes, i18n.T(ctx, "at most %s", highest))
	}
	if s.Format.value != "" {
		notes = append(notes, i18n.T(ctx, "format %s", s.Format.value))
	}
	if s.Pattern.value != "" {
		notes = append(notes, i18n.T(ctx, "matches %s", s.Pattern.value))
	}
	for i, n := range notes {
		notes[i] = shortenText(n, maxNote)
	}
	return notes
}

// shortenText cleans remote text and cuts it to limit characters.
func shortenText(s string, limit int) string {
	n := 0
	for offset := range s {
		if n == limit {
			return cleanText(s[:offset]) + "…"
		}
		n++
	}
	return cleanText(s)
}

// formatValue formats a JSON value: strings without quotes, numbers as written.
func formatValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && s != "" {
		return s
	}
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return ""
	}
	return out.String()
}
