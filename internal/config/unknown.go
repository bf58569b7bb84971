package config

import (
	"reflect"
	"slices"
	"strings"
)

// prefix starts every variable of ours but DATABASE_URL.
const prefix = "PATCHBAY_"

// The variables of `patchbay ctl`: which installation it asks, and with which API key.
const (
	URL    = "PATCHBAY_URL"
	APIKey = "PATCHBAY_API_KEY"
)

// Password is the variable that holds a new user's password where nobody can type it.
const Password = "PATCHBAY_PASSWORD"

// UnknownVariables lists the PATCHBAY_ names in environ ("NAME=value" lines, as os.Environ gives them) that no setting
// reads, sorted. A misspelt PATCHBAY_EGRESS must not silently mean the default.
func UnknownVariables(environ []string) []string {
	known := variables()
	var unknown []string
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, prefix) && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// variables lists every variable that a flag struct names.
func variables() []string {
	names := []string{Password, URL, APIKey}
	for _, t := range []reflect.Type{
		reflect.TypeFor[DatabaseFlags](),
		reflect.TypeFor[ServerFlags](),
		reflect.TypeFor[LogFlags](),
	} {
		for i := range t.NumField() {
			names = append(names, t.Field(i).Tag.Get("env"))
		}
	}
	return names
}
