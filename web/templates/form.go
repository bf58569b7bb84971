package templates

import (
	"maps"
	"slices"
	"strings"
)

// Form holds a form's values and errors by field name. Values never has secrets. The zero value is an empty
// form.
type Form struct {
	Values  map[string]string
	Errors  map[string]string // by field name, as a fault's locations: "auth.token", "headers.X-Team"
	Problem string            // error of the whole form; empty: none
}

// Value returns the field's value.
func (f Form) Value(name string) string { return f.Values[name] }

// Is reports whether the field's value is value.
func (f Form) Is(name, value string) bool { return f.Values[name] == value }

// Error returns the errors of the field and of those below it: "headers" includes "headers.X-Team".
func (f Form) Error(name string) string {
	var messages []string
	for _, field := range slices.Sorted(maps.Keys(f.Errors)) {
		if field == name || strings.HasPrefix(field, name+".") {
			messages = append(messages, f.Errors[field])
		}
	}
	return strings.Join(messages, " ")
}

// Rest returns the errors of fields that are not among the names, so that none is lost.
func (f Form) Rest(names ...string) []string {
	var rest []string
	for _, field := range slices.Sorted(maps.Keys(f.Errors)) {
		below := func(name string) bool { return field == name || strings.HasPrefix(field, name+".") }
		if !slices.ContainsFunc(names, below) {
			rest = append(rest, field+": "+f.Errors[field])
		}
	}
	return rest
}
