package clientconfig

import (
	"regexp"
	"strings"
)

var (
	braced   = regexp.MustCompile(`\$\{[^{}]*\}`)                                                    // ${TOKEN}, ${TOKEN:-default}, ${env:TOKEN}, ${input:token}
	variable = regexp.MustCompile(`^(\$[A-Z_][A-Z0-9_]{0,63}|\{env:[A-Za-z_][A-Za-z0-9_]{0,63}\})$`) // $TOKEN of Gemini, {env:TOKEN} of OpenCode
	inText   = regexp.MustCompile(`\$[A-Z_][A-Z0-9_]{2,63}`)
	// What documentation prints for a reader's own value, and what dialogs print over a hidden one.
	exampleValue = regexp.MustCompile(`(?i)^<[^<>]+>$|^\$\([^()]*\)$|^\{file:[^{}]*\}$|^\{\{[^{}]*\}\}$|^(your|my|insert|enter|replace)[-_ ].*(token|key|secret|password|pat|here)$|^[*•…x.]{3,}$`)

	plainName = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,64}$`)
)

// parsePlaceholder reports whether a text is a placeholder, and its name for a sentence. The default in
// ${TOKEN:-value} is not repeated: it may be a secret.
func parsePlaceholder(text string) (called string, ok bool) {
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
	return "a placeholder", exampleValue.MatchString(text)
}

// expandDefaults replaces each ${NAME:-default} by its default. It is for values that are not secret.
func expandDefaults(text string) string {
	return braced.ReplaceAllStringFunc(text, func(found string) string {
		if _, value, ok := strings.Cut(found[2:len(found)-1], ":-"); ok {
			return value
		}
		return found
	})
}
