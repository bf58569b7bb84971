package oauth

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

const (
	maxEntries     = 256     // of a list in a document; more are left out
	maxFieldLength = 4 << 10 // of a string in a document; a longer one counts as missing
)

// jsonObject is a JSON object read field by field, so that one field of a wrong type does not lose the others.
type jsonObject map[string]json.RawMessage

// readObject reads a JSON object, whatever the content type said.
func readObject(body []byte) (jsonObject, bool) {
	var o jsonObject
	err := json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &o)
	return o, err == nil && o != nil
}

// textField is a string; empty where it is missing, too long or something else.
func (o jsonObject) textField(name string) string {
	s := o.longTextField(name)
	if len(s) > maxFieldLength {
		return ""
	}
	return s
}

func (o jsonObject) longTextField(name string) string {
	var s string
	if json.Unmarshal(o[name], &s) != nil {
		return ""
	}
	return s
}

// textListField is a list of strings; a single string is a list of one, and entries of another type are left out.
func (o jsonObject) textListField(name string) []string {
	if s := o.textField(name); s != "" {
		return []string{s}
	}
	var entries []any
	if json.Unmarshal(o[name], &entries) != nil {
		return nil
	}
	var all []string
	for _, entry := range entries[:min(len(entries), maxEntries)] {
		if s, ok := entry.(string); ok && s != "" && len(s) <= maxFieldLength {
			all = append(all, s)
		}
	}
	return all
}

// boolField is a boolean; the string "true" is one, too.
func (o jsonObject) boolField(name string) bool {
	var b bool
	if json.Unmarshal(o[name], &b) == nil {
		return b
	}
	return strings.EqualFold(o.textField(name), "true")
}

// secondsField is a number of seconds, written as a number or a string; ok is false where it is neither.
func (o jsonObject) secondsField(name string) (n int64, ok bool) {
	text := strings.TrimSpace(strings.Trim(string(o[name]), `"`))
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	const longest = 100 * 365 * 24 * 3600 // a duration or a moment that time.Time can carry
	return int64(min(max(f, -1), longest*1e3)), true
}

// objectField is an object within this one.
func (o jsonObject) objectField(name string) (jsonObject, bool) { return readObject(o[name]) }
