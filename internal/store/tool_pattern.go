package store

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"patchbay/internal/fault"
)

// Bounds of a regular expression in a search. PostgreSQL's time and memory grow with the program.
const (
	maxPatternLength  = 100  // bytes
	maxPatternProgram = 1000 // instructions of package regexp/syntax
)

// foreignPattern matches what package regexp and PostgreSQL read differently: escaped letters and digits besides the
// classes, and groups with options.
var foreignPattern = regexp.MustCompile(`^(?:[^\\]|\\.)*?(?:\\[^dwsDWS\W_]|\(\?[^:])`)

// splitToolQuery splits a search into words and a regular expression, which stands between slashes. The expression is
// valid for package regexp, which has no back references and no lookaround: their time is not bounded.
func splitToolQuery(query string) (words, pattern string, err error) {
	query = strings.TrimSpace(cleanText(query))
	pattern, isPattern := strings.CutPrefix(query, "/")
	pattern, isClosed := strings.CutSuffix(pattern, "/")
	if !isPattern || !isClosed || pattern == "" {
		return query, "", nil
	}
	if len(pattern) > maxPatternLength {
		return "", "", newPatternError("it is longer than 100 bytes")
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if failure, ok := errors.AsType[*syntax.Error](err); ok {
		return "", "", newPatternError(failure.Code.String())
	}
	if foreignPattern.MatchString(pattern) {
		return "", "", newPatternError(`of the escapes only \d, \w, \s, \D, \W, \S and those of punctuation are known, and of the groups only (…) and (?:…)`)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > maxPatternProgram {
		return "", "", newPatternError("it repeats too much")
	}
	return "", pattern, nil
}

func newPatternError(reason string) error {
	return fault.InvalidFields(fault.Field{Location: "q", Message: "This regular expression isn't supported: " + reason + "."})
}
