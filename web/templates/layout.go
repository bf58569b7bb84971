package templates

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// htmxConfig keeps htmx within the content security policy (no styles of its own), disables its timeout for
// syncs, and leaves history to the browser.
const htmxConfig = `{"includeIndicatorCSS":false,"history":"reload","defaultTimeout":0,"defaultSwap":"outerHTML","extensions":"sse,sweep"}`

// initialLetter is the letter of an avatar.
func initialLetter(name string) string {
	r, _ := utf8.DecodeRuneInString(strings.TrimSpace(name))
	if r == utf8.RuneError {
		return "·"
	}
	return string(unicode.ToUpper(r))
}

func idFromPath(href string) string {
	return "place" + strings.ReplaceAll(href, "/", "-")
}
