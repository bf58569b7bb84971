package templates

import (
	"maps"
	"slices"
	"strings"
)

// Form is what a form shows: the values by field name, and what is wrong with them. A secret never stands in Values.
// The zero value is an empty form.
type Form struct {
	Values  map[string]string
	Errors  map[string]string // by field name, as the locations of a fault: "auth.token", "headers.X-Team"
	Problem string            // what is wrong with the whole; empty: nothing
}

// Value returns what the field holds.
func (f Form) Value(name string) string { return f.Values[name] }

// Is tells whether the field holds value.
func (f Form) Is(name, value string) bool { return f.Values[name] == value }

// Error returns what is wrong with the field, and with the fields below it: "headers" answers for "headers.X-Team".
func (f Form) Error(name string) string {
	var said []string
	for _, at := range slices.Sorted(maps.Keys(f.Errors)) {
		if at == name || strings.HasPrefix(at, name+".") {
			said = append(said, f.Errors[at])
		}
	}
	return strings.Join(said, " ")
}

// Rest returns the errors of fields that are not among the names, so that none is lost where a form has no such field.
func (f Form) Rest(names ...string) []string {
	var rest []string
	for _, at := range slices.Sorted(maps.Keys(f.Errors)) {
		below := func(name string) bool { return at == name || strings.HasPrefix(at, name+".") }
		if !slices.ContainsFunc(names, below) {
			rest = append(rest, at+": "+f.Errors[at])
		}
	}
	return rest
}
