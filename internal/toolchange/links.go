package toolchange

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	urlPattern   = regexp.MustCompile(`(?i)\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s"'<>` + "`" + `\\)\]}]+`)
	emailPattern = regexp.MustCompile(`(?i)[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}\b`)
)

func findLinks(p definitionText) []finding {
	if p.audience != forModels {
		return nil
	}
	var found []finding
	add := func(match, label string) {
		match = strings.TrimRight(match, ".,;:!?*_")
		found = append(found, finding{key: strings.ToLower(match), shown: match, sentence: fmt.Sprintf("The text names %s that it did not name.", label)})
	}
	if strings.Contains(p.text, "://") || strings.Contains(p.text, "www.") || strings.Contains(p.text, "WWW.") {
		for _, match := range urlPattern.FindAllString(p.text, maxDifferences) {
			add(match, "an address")
		}
	}
	if strings.Contains(p.text, "@") {
		for _, match := range emailPattern.FindAllString(p.text, maxDifferences) {
			add(match, "an e-mail address")
		}
	}
	return found
}
