package tools

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/jsonschema"
)

// defaults are the initial values: the schema's defaults, for fields that are always sent.
func (f toolForm) defaults() url.Values {
	values := url.Values{}
	for _, field := range f.fields {
		field.fillDefault(values)
	}
	return values
}

func (f formField) fillDefault(values url.Values) {
	if size := len(f.schema.defaultValue); f.alwaysSent && size > 0 && size <= maxFillBytes && f.fillValue(json.RawMessage(f.schema.defaultValue), values) {
		return
	}
	delete(values, f.name)
	for _, field := range f.fields {
		field.fillDefault(values)
	}
}

// fillValues returns the fields' values for these arguments. complete is false if an argument has no field or
// another type.
func (f toolForm) fillValues(arguments json.RawMessage) (values url.Values, complete bool) {
	values = url.Values{}
	return values, fillFields(f.fields, arguments, values)
}

func fillFields(fields []formField, raw json.RawMessage, values url.Values) bool {
	object, _ := jsonschema.Decode(bytes.TrimSpace(raw), jsonschema.Limits{Depth: 1, KeepDuplicates: true})
	if !object.Is(jsonschema.Object) {
		return false
	}
	complete := true
	for _, m := range object.Members {
		i := slices.IndexFunc(fields, func(f formField) bool { return f.key == m.Name })
		if i < 0 || !fields[i].fillValue(json.RawMessage(m.Value.Raw), values) {
			complete = false
		}
	}
	for _, f := range fields { // an unticked checkbox sends false, though the schema's default for a missing value is true
		if f.kind == fieldFlag && object.Get(f.key) == nil {
			f.fillDefault(values)
		}
	}
	return complete
}

// fillValue sets a field's value if it fits.
func (f formField) fillValue(raw json.RawMessage, values url.Values) bool {
	raw = bytes.TrimSpace(raw)
	if string(raw) == "null" && f.nullable && f.kind != fieldJSON {
		return f.required // an optional one would be left out
	}
	switch f.kind {
	case fieldGroup:
		complete := fillFields(f.fields, raw, values)
		return complete && (f.required || (&formReader{values: values}).isGiven(f)) // an empty optional one would be left out
	case fieldLines, fieldSeveral:
		return f.fillList(raw, values)
	case fieldJSON:
		values.Set(f.name, shell.IndentedJSON(raw))
		return true
	default:
		text, ok := f.controlText(f.kind, raw)
		if ok {
			values.Set(f.name, text)
		}
		return ok
	}
}

func (f formField) fillList(raw json.RawMessage, values url.Values) bool {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil || len(items) == 0 && !f.required {
		return false
	}
	var lines []string
	for _, item := range items {
		kind := f.itemKind
		if f.kind == fieldSeveral {
			kind = fieldChoice
		}
		text, ok := f.controlText(kind, item)
		if !ok || kind == fieldText && (text != strings.TrimSpace(text) || text == "" || strings.Contains(text, "\n")) {
			return false
		}
		lines = append(lines, text)
	}
	if f.kind == fieldLines {
		lines = []string{strings.Join(lines, "\n")}
	}
	values[f.name] = lines
	return true
}

// controlText is a value as its form control holds it.
func (f formField) controlText(kind fieldKind, raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	switch kind {
	case fieldText:
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return "", false
		}
		return f.browserText(text)
	case fieldNumber:
		return parseNumeral(string(raw), anyNumber)
	case fieldInteger:
		return parseNumeral(string(raw), wholeNumber)
	case fieldFlag:
		return string(raw), string(raw) == "true" || string(raw) == "false"
	default:
		value := compactJSON(raw)
		return value, slices.ContainsFunc(f.choices, func(c formChoice) bool { return c.value == value })
	}
}

// browserText is a text as the browser's control keeps it. A control for an address or date silently drops
// invalid text.
func (f formField) browserText(text string) (string, bool) {
	switch f.schema.format {
	case "date-time":
		return browserTime(text)
	case "date":
		_, err := time.Parse(time.DateOnly, text)
		return text, err == nil
	case "email", "uri":
		return text, text != "" && text == strings.TrimSpace(text) && !strings.ContainsAny(text, "\r\n")
	default:
		return text, text != "" && !strings.Contains(text, "\r")
	}
}

// browserTime is a time in UTC as its control holds it, if that is the same instant.
func browserTime(text string) (string, bool) {
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "", false
	}
	local := parsed.UTC().Format("2006-01-02T15:04:05.999")
	typed, _ := parseDateTime(local)
	reparsed, err := time.Parse(time.RFC3339, typed)
	return local, err == nil && reparsed.Equal(parsed)
}
