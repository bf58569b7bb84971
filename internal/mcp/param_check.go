package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"patchbay/internal/mcp/wire"
)

// ParamMismatch is what is wrong with the headers that mirror a call's arguments, a sentence for the client which sent both; empty:
// they agree, or the tool mirrors none (2026-07-28, "Server Behavior for Custom Headers"). schema is the tool's.
func ParamMismatch(schema, arguments json.RawMessage, header http.Header) string {
	if !bytes.Contains(schema, []byte(annotation)) {
		return ""
	}
	all, defect := mirrored(schema)
	if len(all) == 0 || defect != "" {
		return ""
	}
	given, _ := decode(arguments)
	for _, p := range all {
		name := "Mcp-Param-" + p.name
		if wrong := p.mismatch(given, header.Values(name)); wrong != "" {
			return fmt.Sprintf("The header %s %s.", name, wrong)
		}
	}
	return ""
}

// mismatch is what is wrong with the values of one parameter's header.
func (p param) mismatch(arguments any, values []string) string {
	want, given := p.value(arguments)
	switch {
	case !given && len(values) == 0:
		return ""
	case !given:
		return "repeats a parameter that the call does not have"
	case len(values) != 1:
		return "must stand there once"
	}
	have, ok := wire.HeaderText(values[0])
	if !ok {
		return "is not encoded as it says"
	}
	if have != want && !(p.number(arguments) && sameNumber(have, want)) {
		return "says something else than the call's parameter"
	}
	return ""
}

// number tells whether the arguments hold a number for the parameter.
func (p param) number(arguments any) bool {
	for _, name := range p.path {
		object, _ := arguments.(map[string]any)
		arguments = object[name]
	}
	_, ok := arguments.(json.Number)
	return ok
}

// sameNumber tells whether a header's text is the number that integer has written.
func sameNumber(header, number string) bool {
	return !strings.Contains(header, "/") && integer(json.Number(header)) == number
}
