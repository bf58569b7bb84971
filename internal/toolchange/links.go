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

func (c *comparison) findLinks(p definitionText) []finding {
	if p.audience != forModels || !c.work.spendUnits(valueWork) {
		return nil
	}
	var found []finding
	add := func(match, label string) {
		match = strings.TrimRight(match, ".,;:!?*_")
		found = append(found, finding{key: strings.ToLower(match), shown: match, sentence: fmt.Sprintf("The text now names %s.", label)})
	}
	if text := urlPart(p.text); text != "" && c.work.spendUnits(urlByteWork*len(text)) {
		for _, match := range urlPattern.FindAllString(text, maxDifferences) {
			add(match, "an address")
		}
	}
	if strings.Contains(p.text, "@") && c.work.spendUnits(emailByteWork*len(p.text)) {
		for _, match := range emailPattern.FindAllString(p.text, maxDifferences) {
			add(match, "an email address")
		}
	}
	return found
}

// maxSchemeBytes is more than the longest scheme that urlPattern matches, with a character before it. In (?i), two
// letters of the class have folds outside ASCII.
const maxSchemeBytes = 4 * (21 + 1)

// urlMarks occur in every URL that urlPattern matches.
var urlMarks = []string{"://", "www.", "wwW.", "wWw.", "wWW.", "Www.", "WwW.", "WWw.", "WWW."}

// urlPart returns the part of a text from its first URL to the end of its last one.
func urlPart(text string) string {
	first, last := len(text), -1
	for _, mark := range urlMarks {
		if index := strings.Index(text, mark); index >= 0 {
			first, last = min(first, index), max(last, strings.LastIndex(text, mark))
		}
	}
	if last < 0 {
		return ""
	}
	end := strings.IndexAny(text[last:], whitespace)
	if end < 0 {
		end = len(text) - last
	}
	return text[max(0, first-maxSchemeBytes) : last+end]
}
