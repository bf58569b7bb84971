package toolchange

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	urlForm   = regexp.MustCompile(`(?i)\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s"'<>` + "`" + `\\)\]}]+`)
	emailForm = regexp.MustCompile(`(?i)[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}\b`)
)

// linksOf finds URLs and e-mail addresses.
func linksOf(p passage) []finding {
	if p.seen != toModels {
		return nil
	}
	var found []finding
	add := func(match, what string) {
		match = strings.TrimRight(match, ".,;:!?*_")
		found = append(found, finding{key: strings.ToLower(match), shown: match, sentence: fmt.Sprintf("The text names %s that it did not name.", what)})
	}
	if strings.Contains(p.text, "://") || strings.Contains(p.text, "www.") || strings.Contains(p.text, "WWW.") {
		for _, match := range urlForm.FindAllString(p.text, mostDifferences) {
			add(match, "an address")
		}
	}
	if strings.Contains(p.text, "@") {
		for _, match := range emailForm.FindAllString(p.text, mostDifferences) {
			add(match, "an e-mail address")
		}
	}
	return found
}
