package tools

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"patchbay/internal/i18n"
	"patchbay/internal/jsonschema"
)

// formReader reads arguments from form values.
type formReader struct {
	values url.Values
	errors map[string]i18n.Key // by the names of the controls
}

const (
	messageRequired i18n.Key = "Required."
	messageNumber   i18n.Key = "Enter a number."
	messageInteger  i18n.Key = "Enter a whole number."
	messageChoice   i18n.Key = "Choose a listed option."
	messageJSON     i18n.Key = "Not valid JSON."
	messageDateTime i18n.Key = "Enter a date and time."
)

// readArguments returns the fields' values as one JSON object in the schema's order, and errors by control.
func (f toolForm) readArguments(values url.Values) (json.RawMessage, map[string]i18n.Key) {
	r := &formReader{values: values, errors: map[string]i18n.Key{}}
	object := r.readObject(f.fields)
	return object, r.errors
}

func (r *formReader) readObject(fields []formField) json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('{')
	for _, f := range fields {
		value, given := r.readValue(f)
		if !given {
			value = r.emptyValue(f)
		}
		if value == nil {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.Write(jsonschema.AppendQuoted(nil, f.key))
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes()
}

// emptyValue is the value of a required field that was left empty; nil if it has none.
func (r *formReader) emptyValue(f formField) json.RawMessage {
	switch {
	case !f.required:
		return nil
	case f.nullable:
		return json.RawMessage("null")
	case f.kind == fieldLines, f.kind == fieldSeveral:
		return json.RawMessage("[]")
	default:
		r.errors[f.name] = messageRequired
		return nil
	}
}

// readValue reads a field; given is false if it was left empty.
func (r *formReader) readValue(f formField) (readValue json.RawMessage, given bool) {
	typed := strings.ReplaceAll(r.values.Get(f.name), "\r\n", "\n")
	switch f.kind {
	case fieldGroup:
		if !f.required && !slices.ContainsFunc(f.fields, r.isGiven) {
			return nil, false
		}
		return r.readObject(f.fields), true
	case fieldFlag:
		return json.RawMessage(map[bool]string{true: "true", false: "false"}[typed == "true"]), true
	case fieldLines:
		return r.readLines(f, typed)
	case fieldSeveral:
		return r.readSeveral(f)
	case fieldChoice:
		return r.readChoice(f, typed)
	case fieldText:
		return r.readText(f, typed)
	default:
		return r.readLiteral(f, f.kind, strings.TrimSpace(typed))
	}
}

// isGiven reports whether a field, or one below it, has a value.
func (r *formReader) isGiven(f formField) bool {
	if f.kind == fieldGroup {
		return slices.ContainsFunc(f.fields, r.isGiven)
	}
	return slices.ContainsFunc(r.values[f.name], func(typed string) bool { return strings.TrimSpace(typed) != "" })
}

func (r *formReader) readText(f formField, typed string) (json.RawMessage, bool) {
	if typed == "" {
		return nil, false
	}
	if f.schema.format == "date-time" {
		formatted, ok := parseDateTime(typed)
		if !ok {
			r.errors[f.name] = messageDateTime
		}
		typed = formatted
	}
	return jsonschema.AppendQuoted(nil, typed), true
}

// parseDateTime converts the value of a datetime-local control to RFC 3339 in UTC. A complete time stays
// unchanged.
func parseDateTime(typed string) (string, bool) {
	if _, err := time.Parse(time.RFC3339, typed); err == nil {
		return typed, true
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, typed); err == nil {
			return t.Format("2006-01-02T15:04:05.999") + "Z", true
		}
	}
	return typed, false
}

func (r *formReader) readChoice(f formField, typed string) (json.RawMessage, bool) {
	if typed == "" {
		return nil, false
	}
	if !slices.ContainsFunc(f.choices, func(c formChoice) bool { return c.value == typed }) {
		r.errors[f.name] = messageChoice
	}
	return json.RawMessage(typed), true
}

func (r *formReader) readSeveral(f formField) (json.RawMessage, bool) {
	var chosen []string
	for _, c := range f.choices { // in the schema's order
		if slices.Contains(r.values[f.name], c.value) {
			chosen = append(chosen, c.value)
		}
	}
	if len(chosen) == 0 {
		return nil, false
	}
	return json.RawMessage("[" + strings.Join(chosen, ",") + "]"), true
}

func (r *formReader) readLines(f formField, typed string) (json.RawMessage, bool) {
	var items []string
	for line := range strings.SplitSeq(typed, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		item := jsonschema.AppendQuoted(nil, line)
		if f.itemKind != fieldText {
			item, _ = r.readLiteral(f, f.itemKind, line)
		}
		items = append(items, string(item))
	}
	if len(items) == 0 {
		return nil, false
	}
	return json.RawMessage("[" + strings.Join(items, ",") + "]"), true
}

// readLiteral reads a number or any JSON.
func (r *formReader) readLiteral(f formField, kind fieldKind, typed string) (json.RawMessage, bool) {
	if typed == "" {
		return nil, false
	}
	message := messageJSON
	ok := json.Valid([]byte(typed))
	switch kind {
	case fieldNumber:
		typed, ok = parseNumeral(typed, anyNumber)
		message = messageNumber
	case fieldInteger:
		typed, ok = parseNumeral(typed, wholeNumber)
		message = messageInteger
	}
	if !ok {
		r.errors[f.name] = message
	}
	return json.RawMessage(typed), true
}

var (
	wholeNumber = regexp.MustCompile(`^([+-]?)0*([0-9]+)$`)
	anyNumber   = regexp.MustCompile(`^([+-]?)0*([0-9]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)$`)
)

// parseNumeral converts a number to JSON syntax without changing digits: one past 2^53 stays exact.
func parseNumeral(typed string, like *regexp.Regexp) (string, bool) {
	parts := like.FindStringSubmatch(typed)
	if parts == nil || !strings.ContainsAny(typed, "0123456789") {
		return typed, false
	}
	digits := parts[2]
	if digits == "" || digits[0] == '.' || digits[0] == 'e' || digits[0] == 'E' {
		digits = "0" + digits
	}
	digits = strings.Replace(digits+" ", ". ", "", 1)
	spelled := strings.TrimSpace(digits)
	if parts[1] == "-" {
		spelled = "-" + spelled
	}
	return spelled, json.Valid([]byte(spelled))
}
