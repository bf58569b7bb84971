package tools

import (
	"regexp"
	"strconv"
	"strings"

	"patchbay/web/templates"
)

// argumentSentence is the beginning of a sentence about one argument, of package agentview.
var argumentSentence = regexp.MustCompile(`^The argument ("(?:[^"\\]|\\.)*")`)

// setArgumentError puts the sentence beside the field of the argument that it names; false if the form has none.
func (t *trial) setArgumentError(known, shown string) bool {
	found := argumentSentence.FindStringSubmatch(known)
	if found == nil || t.asJSON {
		return false
	}
	path, err := strconv.Unquote(found[1])
	if err != nil {
		return false
	}
	field := findField(t.tool.form.fields, path)
	if field == "" {
		return false
	}
	t.setError(field, shown)
	return true
}

// findField is the name of the field of an argument, or of the one that it is in; empty: none.
func findField(fields []formField, path string) string {
	for _, f := range fields {
		rest, isBelow := strings.CutPrefix(path, f.key)
		switch {
		case !isBelow:
		case rest == "", strings.HasPrefix(rest, "["):
			return f.name
		case strings.HasPrefix(rest, "."):
			if below := findField(f.fields, rest[1:]); below != "" {
				return below
			}
			return f.name
		}
	}
	return ""
}

// addErrors adds the errors by the names of fields.
func addErrors(fields []templates.TryField, errors map[string]string) {
	for i := range fields {
		if message := errors[fields[i].Name]; message != "" {
			fields[i].Error = message
		}
		addErrors(fields[i].Fields, errors)
	}
}
