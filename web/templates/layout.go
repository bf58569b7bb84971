package templates

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// htmxConfig keeps htmx within the content security policy (no styles of its own), lets a sync take as long as it
// takes, and leaves going back to the browser.
const htmxConfig = `{"includeIndicatorCSS":false,"history":"reload","defaultTimeout":0,"defaultSwap":"outerHTML","extensions":"sse"}`

// initial is the letter of an avatar.
func initial(name string) string {
	r, _ := utf8.DecodeRuneInString(strings.TrimSpace(name))
	if r == utf8.RuneError {
		return "·"
	}
	return string(unicode.ToUpper(r))
}

func placeID(href string) string {
	return "place" + strings.ReplaceAll(href, "/", "-")
}
