package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"patchbay/internal/mcp/wire"
)

// ParamMismatch returns what is wrong with the headers that mirror a call's arguments, as a sentence for the
// client. It is empty if they agree, or the tool mirrors none (2026-07-28, "Server Behavior for Custom
// Headers"). schema is the tool's.
func ParamMismatch(schema, arguments json.RawMessage, header http.Header) string {
	if !bytes.Contains(schema, []byte(headerAnnotation)) {
		return ""
	}
	all, defect := readMirroredParams(schema)
	if len(all) == 0 || defect != "" {
		return ""
	}
	given, _ := decodeJSON(arguments)
	for _, p := range all {
		name := "Mcp-Param-" + p.name
		if mismatch := p.headerMismatch(given, header.Values(name)); mismatch != "" {
			return fmt.Sprintf("The header %s %s.", name, mismatch)
		}
	}
	return ""
}

func (p mirroredParam) headerMismatch(arguments any, values []string) string {
	want, isGiven := p.argumentText(arguments)
	switch {
	case !isGiven && len(values) == 0:
		return ""
	case !isGiven:
		return "repeats a parameter that is missing from the call"
	case len(values) != 1:
		return "must occur once"
	}
	got, ok := wire.HeaderText(values[0])
	if !ok {
		return "is not encoded correctly"
	}
	if got != want && !(p.isNumber(arguments) && isSameNumber(got, want)) {
		return "differs from the call's parameter"
	}
	return ""
}

func (p mirroredParam) isNumber(arguments any) bool {
	for _, name := range p.path {
		object, _ := arguments.(map[string]any)
		arguments = object[name]
	}
	_, ok := arguments.(json.Number)
	return ok
}

// isSameNumber reports whether a header's text equals a number from normalizeInteger.
func isSameNumber(header, number string) bool {
	return !strings.Contains(header, "/") && normalizeInteger(json.Number(header)) == number
}
