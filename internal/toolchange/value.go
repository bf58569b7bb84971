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

// memberNames are the names of both objects' members, sorted.
func memberNames(a, b map[string]any) []string {
	all := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, there := a[name]; !there {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// equal tells whether two values are the same, numbers by how they are spelled.
func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// canonical is a value as a text that equal values share.
func canonical(v any) string {
	text, err := json.Marshal(v) // members sorted by name
	if err != nil {
		return ""
	}
	return string(text)
}

// unescaped undoes what json.Marshal does for the sake of HTML.
func unescaped(text []byte) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}

// mostShown are the bytes of a value that are shown.
const mostShown = 300

func cut(s string) string {
	if len(s) <= mostShown {
		return s
	}
	end := mostShown
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// spaced is a text with one blank where it has white space.
func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// ambiguous tells whether an object in raw names a member twice.
func ambiguous(raw []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var open []map[string]bool // the names of each object that is open; nil: an array
	named := false             // the next text is a value
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
