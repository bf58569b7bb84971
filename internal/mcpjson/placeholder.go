package mcpjson

import (
	"regexp"
	"strings"
)

var (
	braced   = regexp.MustCompile(`\$\{[^{}]*\}`)              // ${TOKEN}, ${TOKEN:-default}, ${env:TOKEN}, ${input:token}
	variable = regexp.MustCompile(`^\$[A-Z_][A-Z0-9_]{0,63}$`) // $TOKEN, of Gemini
	// What documentation prints where a reader's own value belongs, and what dialogs print over a value that they hide.
	standIn = regexp.MustCompile(`(?i)^<[^<>]+>$|^\{\{[^{}]*\}\}$|^(your|my|insert|enter|replace)[-_ ].*(token|key|secret|password|pat|here)$|^[*•…x.]{3,}$`)

	plainName = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,64}$`)
)

// placeholder tells whether a text stands for a value that is elsewhere, and how it may be called in a sentence. A default
// (${TOKEN:-value}) is no part of that: it can be a secret.
func placeholder(text string) (called string, ok bool) {
	text = strings.TrimSpace(text)
	if found := braced.FindString(text); found != "" {
		name, _, _ := strings.Cut(found[2:len(found)-1], ":-")
		if !plainName.MatchString(name) {
			return "a placeholder", true
		}
		return "${" + name + "}", true
	}
	if variable.MatchString(text) {
		return text, true
	}
	return "a placeholder", standIn.MatchString(text)
}

// withDefaults puts the default of each ${NAME:-default} in its place. It is for what is no secret.
func withDefaults(text string) string {
	return braced.ReplaceAllStringFunc(text, func(found string) string {
		if _, value, ok := strings.Cut(found[2:len(found)-1], ":-"); ok {
			return value
		}
		return found
	})
}
