package admin

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"patchbay/internal/words"
)

// formReader makes arguments out of what was typed.
type formReader struct {
	values url.Values
	errors map[string]words.Key // by the names of the controls
}

const (
	saysNeeded   words.Key = "This is needed."
	saysNumber   words.Key = "This is not a number."
	saysInteger  words.Key = "This is not a whole number."
	saysChoice   words.Key = "This is none of the choices."
	saysJSON     words.Key = "This is not JSON."
	saysDateTime words.Key = "This is not a date with a time."
)

// arguments are what the fields hold, as one JSON object in the schema's order, and what is wrong by the names of the controls.
func (f toolForm) arguments(values url.Values) (json.RawMessage, map[string]words.Key) {
	r := &formReader{values: values, errors: map[string]words.Key{}}
	object := r.object(f.fields)
	return object, r.errors
}

func (r *formReader) object(fields []formField) json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('{')
	for _, f := range fields {
		value, given := r.value(f)
		if !given {
			value = r.instead(f)
		}
		if value == nil {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.Write(quote(f.key))
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes()
}

// instead is what stands for a field that was left empty; nil: nothing does.
func (r *formReader) instead(f formField) json.RawMessage {
	switch {
	case !f.required:
		return nil
	case f.nullable:
		return json.RawMessage("null")
	case f.asks == asksLines, f.asks == asksSeveral:
		return json.RawMessage("[]")
	default:
		r.errors[f.name] = saysNeeded
		return nil
	}
}

// value is what a field holds; not given: it was left empty.
func (r *formReader) value(f formField) (value json.RawMessage, given bool) {
	typed := strings.ReplaceAll(r.values.Get(f.name), "\r\n", "\n")
	switch f.asks {
	case asksGroup:
		if !f.required && !slices.ContainsFunc(f.fields, r.given) {
			return nil, false
		}
		return r.object(f.fields), true
	case asksFlag:
		return json.RawMessage(map[bool]string{true: "true", false: "false"}[typed == "true"]), true
	case asksLines:
		return r.lines(f, typed)
	case asksSeveral:
		return r.several(f)
	case asksChoice:
		return r.choice(f, typed)
	case asksText:
		return r.text(f, typed)
	default:
		return r.literal(f, f.asks, strings.TrimSpace(typed))
	}
}

// given tells whether something was typed into a field, or below it.
func (r *formReader) given(f formField) bool {
	if f.asks == asksGroup {
		return slices.ContainsFunc(f.fields, r.given)
	}
	return slices.ContainsFunc(r.values[f.name], func(typed string) bool { return strings.TrimSpace(typed) != "" })
}

func (r *formReader) text(f formField, typed string) (json.RawMessage, bool) {
	if typed == "" {
		return nil, false
	}
	if f.schema.Format.value == "date-time" {
		at, ok := dateTime(typed)
		if !ok {
			r.errors[f.name] = saysDateTime
		}
		typed = at
	}
	return quote(typed), true
}

// dateTime makes a time of RFC 3339 out of what a browser's field for one holds, in UTC. A whole one stays as it is.
func dateTime(typed string) (string, bool) {
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

func (r *formReader) choice(f formField, typed string) (json.RawMessage, bool) {
	if typed == "" {
		return nil, false
	}
	if !slices.ContainsFunc(f.choices, func(c formChoice) bool { return c.value == typed }) {
		r.errors[f.name] = saysChoice
	}
	return json.RawMessage(typed), true
}

func (r *formReader) several(f formField) (json.RawMessage, bool) {
	var chosen []string
	for _, c := range f.choices { // in the schema's order, whatever the browser sends
		if slices.Contains(r.values[f.name], c.value) {
			chosen = append(chosen, c.value)
		}
	}
	if len(chosen) == 0 {
		return nil, false
	}
	return json.RawMessage("[" + strings.Join(chosen, ",") + "]"), true
}

func (r *formReader) lines(f formField, typed string) (json.RawMessage, bool) {
	var items []string
	for line := range strings.SplitSeq(typed, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		item := quote(line)
		if f.item != asksText {
			item, _ = r.literal(f, f.item, line)
		}
		items = append(items, string(item))
	}
	if len(items) == 0 {
		return nil, false
	}
	return json.RawMessage("[" + strings.Join(items, ",") + "]"), true
}

// literal is a number or any JSON.
func (r *formReader) literal(f formField, as asks, typed string) (json.RawMessage, bool) {
	if typed == "" {
		return nil, false
	}
	said := saysJSON
	ok := json.Valid([]byte(typed))
	switch as {
	case asksNumber:
		typed, ok = numeral(typed, anyNumber)
		said = saysNumber
	case asksInteger:
		typed, ok = numeral(typed, wholeNumber)
		said = saysInteger
	}
	if !ok {
		r.errors[f.name] = said
	}
	return json.RawMessage(typed), true
}

var (
	wholeNumber = regexp.MustCompile(`^([+-]?)0*([0-9]+)$`)
	anyNumber   = regexp.MustCompile(`^([+-]?)0*([0-9]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)$`)
)

// numeral spells a number as JSON wants it, and changes no digit: one past 2^53 stays what it is.
func numeral(typed string, like *regexp.Regexp) (string, bool) {
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

// quote writes a JSON string as a person would: nothing is escaped that need not be.
func quote(s string) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be written
	return bytes.TrimRight(out.Bytes(), "\n")
}
