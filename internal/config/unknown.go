package config

import (
	"reflect"
	"slices"
	"strings"
)

// variablePrefix starts every variable of Patchbay but DATABASE_URL.
const variablePrefix = "PATCHBAY_"

// The variables of `patchbay ctl`: the installation's URL and an API key.
const (
	URL    = "PATCHBAY_URL"
	APIKey = "PATCHBAY_API_KEY"
)

// Password is the variable with a new user's password, for use without a terminal.
const Password = "PATCHBAY_PASSWORD"

// SecretVariables are the variables beside the settings that contain secrets.
var SecretVariables = []string{Password, "VAULT_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN"}

// UnknownVariables returns the sorted PATCHBAY_ names in environ ("NAME=value" lines, as from os.Environ) that
// no setting reads. A misspelt PATCHBAY_EGRESS must not silently mean the default.
func UnknownVariables(environ []string) []string {
	known := knownVariables()
	var unknown []string
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, variablePrefix) && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// knownVariables lists every variable of the flag structs.
func knownVariables() []string {
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
