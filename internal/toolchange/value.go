package toolchange

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// memberNames returns the sorted names of both objects' members.
func memberNames(a, b map[string]any) []string {
	all := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, exists := a[name]; !exists {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// equalValues compares decoded values; numbers by their spelling.
func equalValues(a, b any) bool { return reflect.DeepEqual(a, b) }

// canonicalJSON returns a text that only equal values share.
func canonicalJSON(v any) string {
	text, err := json.Marshal(v) // sorts members by name
	if err != nil {
		return ""
	}
	return string(text)
}

// unescapeHTML reverts json.Marshal's HTML escapes.
func unescapeHTML(text []byte) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}

// maxShownBytes bounds a value in a difference.
const maxShownBytes = 300

func truncateText(s string) string {
	if len(s) <= maxShownBytes {
		return s
	}
	end := maxShownBytes
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// collapseSpace replaces each run of white space by one space.
func collapseSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// hasDuplicateNames reports whether an object in raw has a member twice.
func hasDuplicateNames(raw []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var open []map[string]bool // member names of the enclosing objects; nil: an array
	named := false             // the next token is a value
	for {
		token, err := dec.Token()
		if err != nil {
			return false
		}
		top := len(open) - 1
		if name, isText := token.(string); isText && top >= 0 && open[top] != nil && !named {
			if open[top][name] {
				return true
			}
			open[top][name], named = true, true
			continue
		}
		named = false
		switch token {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:top]
		}
	}
}
