package admin

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"
)

// defaults are what the fields hold before somebody types: the schema's defaults, where the field is sent in any case.
func (f toolForm) defaults() url.Values {
	values := url.Values{}
	for _, field := range f.fields {
		field.fillDefault(values)
	}
	return values
}

func (f formField) fillDefault(values url.Values) {
	if f.top && len(f.schema.Default) > 0 && f.fill(f.schema.Default, values) {
		return
	}
	delete(values, f.name)
	for _, below := range f.fields {
		below.fillDefault(values)
	}
}

// fill is what the fields hold for these arguments. It is not whole where some of them have no field, or one of another kind.
func (f toolForm) fill(arguments json.RawMessage) (values url.Values, whole bool) {
	values = url.Values{}
	return values, fillFields(f.fields, arguments, values)
}

func fillFields(fields []formField, raw json.RawMessage, values url.Values) bool {
	var object ordered
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &object) != nil {
		return false
	}
	whole := true
	for _, m := range object {
		i := slices.IndexFunc(fields, func(f formField) bool { return f.key == m.name })
		if i < 0 || !fields[i].fill(m.value, values) {
			whole = false
		}
	}
	for _, f := range fields { // a box that is not ticked says no, where the schema says yes of what is left out
		if f.asks == asksFlag && object.member(f.key) == nil {
			f.fillDefault(values)
		}
	}
	return whole
}

// fill puts one value into its field, where it fits.
func (f formField) fill(raw json.RawMessage, values url.Values) bool {
	raw = bytes.TrimSpace(raw)
	if string(raw) == "null" && f.nullable && f.asks != asksJSON {
		return f.required // one that need not be there would be left out
	}
	switch f.asks {
	case asksGroup:
		whole := fillFields(f.fields, raw, values)
		return whole && (f.required || (&formReader{values: values}).given(f)) // an empty one that need not be there would be left out
	case asksLines, asksSeveral:
		return f.fillList(raw, values)
	case asksJSON:
		values.Set(f.name, indented(raw))
		return true
	default:
		text, ok := f.spelled(f.asks, raw)
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
		as := f.item
		if f.asks == asksSeveral {
			as = asksChoice
		}
		text, ok := f.spelled(as, item)
		if !ok || as == asksText && (text != strings.TrimSpace(text) || text == "" || strings.Contains(text, "\n")) {
			return false
		}
		lines = append(lines, text)
	}
	if f.asks == asksLines {
		lines = []string{strings.Join(lines, "\n")}
	}
	values[f.name] = lines
	return true
}

// spelled is a value as its field holds it.
func (f formField) spelled(as asks, raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	switch as {
	case asksText:
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return "", false
		}
		return f.shown(text)
	case asksNumber:
		return numeral(string(raw), anyNumber)
	case asksInteger:
		return numeral(string(raw), wholeNumber)
	case asksFlag:
		return string(raw), string(raw) == "true" || string(raw) == "false"
	default:
		value := compact(raw)
		return value, slices.ContainsFunc(f.choices, func(c formChoice) bool { return c.value == value })
	}
}

// shown is a text as the browser's field takes it. A field for an address or a day drops what does not belong there without a word.
func (f formField) shown(text string) (string, bool) {
	switch f.schema.Format.value {
	case "date-time":
		return shownTime(text)
	case "date":
		_, err := time.Parse(time.DateOnly, text)
		return text, err == nil
	case "email", "uri":
		return text, text != "" && text == strings.TrimSpace(text) && !strings.ContainsAny(text, "\r\n")
	default:
		return text, text != "" && !strings.Contains(text, "\r")
	}
}

// shownTime is a time in UTC as its field holds it, where that is the same moment.
func shownTime(text string) (string, bool) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "", false
	}
	shown := at.UTC().Format("2006-01-02T15:04:05.999")
	back, _ := dateTime(shown)
	again, err := time.Parse(time.RFC3339, back)
	return shown, err == nil && again.Equal(at)
}

func indented(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}
