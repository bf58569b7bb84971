package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"patchbay/internal/words"
	"patchbay/web/templates"
)

// Bounds of a parameter table: a schema comes from a remote server and may be of any size or depth. The schema itself is
// shown whole beside it.
const (
	maxParams     = 100
	maxParamDepth = 4

	// In characters.
	maxName  = 200 // of a title, a parameter or a type
	maxAbout = 500 // of what a parameter is for
	maxNote  = 200
)

// params reads the parameters out of an input schema, in its own order, nested ones below their parent; follow: with references
// within the schema.
func params(ctx context.Context, raw json.RawMessage, follow bool) []templates.Param {
	var d document
	if follow && len(raw) <= maxFormSchema { // each look at a reference reads the whole schema
		d = newDocument(raw)
	}
	s, _ := d.plain(raw)
	return d.params(ctx, s, "", 1, nil)
}

func (d document) params(ctx context.Context, s schema, prefix string, depth int, list []templates.Param) []templates.Param {
	for _, property := range s.Properties {
		if len(list) >= maxParams {
			return list
		}
		name := prefix + property.name
		p, nullable := d.plain(property.value)
		list = append(list, templates.Param{
			Name:        shorten(name, maxName),
			Type:        d.typeName(ctx, p, nullable),
			Required:    s.requires(property.name),
			Description: shorten(p.Description.value, maxAbout),
			Notes:       p.notes(ctx),
		})
		if depth == maxParamDepth {
			continue
		}
		list = d.params(ctx, p, name+".", depth+1, list)
		if len(p.Items) > 0 {
			items, _ := d.plain(p.Items)
			list = d.params(ctx, items, name+"[].", depth+1, list)
		}
	}
	return list
}

func (d document) typeName(ctx context.Context, s schema, nullable bool) string {
	types := s.Type
	if items, _ := d.plain(s.Items); slices.Equal(types, typeNames{"array"}) && len(items.Type) > 0 {
		types = typeNames{words.T(ctx, "array of %s", strings.Join(items.Type, " "+words.T(ctx, "or")+" "))}
	}
	if nullable && len(types) > 0 {
		types = append(slices.Clone(types), "null")
	}
	return shorten(strings.Join(types, " "+words.T(ctx, "or")+" "), maxName)
}

func (s schema) notes(ctx context.Context) []string {
	var notes []string
	if len(s.Enum.value) > 0 {
		choices := make([]string, len(s.Enum.value))
		for i, v := range s.Enum.value {
			choices[i] = spell(v)
		}
		notes = append(notes, words.T(ctx, "one of %s", strings.Join(choices, ", ")))
	}
	if len(s.Default) > 0 {
		notes = append(notes, words.T(ctx, "default %s", spell(s.Default)))
	}
	switch lowest, highest := spell(s.Minimum), spell(s.Maximum); {
	case lowest != "" && highest != "":
		notes = append(notes, lowest+"–"+highest)
	case lowest != "":
		notes = append(notes, words.T(ctx, "at least %s", lowest))
	case highest != "":
		notes = append(notes, words.T(ctx, "at most %s", highest))
	}
	if s.Format.value != "" {
		notes = append(notes, words.T(ctx, "format %s", s.Format.value))
	}
	if s.Pattern.value != "" {
		notes = append(notes, words.T(ctx, "matches %s", s.Pattern.value))
	}
	for i, n := range notes {
		notes[i] = shorten(n, maxNote)
	}
	return notes
}

// shorten makes remote text fit for a page, and cuts it after most characters.
func shorten(s string, most int) string {
	n := 0
	for at := range s {
		if n == most {
			return clean(s[:at]) + "…"
		}
		n++
	}
	return clean(s)
}

// spell writes a value as a person would: text without quotes, a number as the server spells it.
func spell(raw json.RawMessage) string {
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
