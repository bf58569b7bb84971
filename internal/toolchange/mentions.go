package toolchange

import (
	"bytes"
	"strconv"
	"strings"
)

// maxMentions bounds the words that are looked up per definition.
const maxMentions = 200

// Mentions returns the new words of a definition that may name another tool, at most 200. The caller looks up
// their owners for [Budget.Compare], which reports that there are more.
func Mentions(before, now []byte) []string {
	words, _ := findMentions(before, now, nil)
	return words
}

// findMentions returns what [Mentions] does. isCut: there are more words.
func findMentions(before, now []byte, w *work) (words []string, isCut bool) {
	size := len(before) + len(now)
	if size > maxComparedBytes || !w.spendUnits(nameByteWork*size) {
		return nil, false // Compare reports that it does not search these definitions
	}
	seen := map[string]bool{}
	for word := range toolNames(unescapeJSON(before)) {
		if !seen[word] && !w.spendUnits(entryWork) {
			return nil, false
		}
		seen[word] = true
	}
	for word := range toolNames(unescapeJSON(now)) {
		if seen[word] {
			continue
		}
		if len(words) == maxMentions {
			return words, true
		}
		words = append(words, word)
		seen[word] = true
	}
	return words, false
}

// unescapeJSON decodes the escapes of all strings in a document, because a letter of an escape is no part of a
// word (RFC 8259 section 7).
func unescapeJSON(document []byte) string {
	if bytes.IndexByte(document, '\\') < 0 {
		return string(document)
	}
	var text strings.Builder
	text.Grow(len(document))
	for i := 0; i < len(document); i++ {
		b := document[i]
		if b != '\\' || i+1 == len(document) {
			text.WriteByte(b)
			continue
		}
		i++
		switch b = document[i]; b {
		case 'b', 'f', 'n', 'r', 't':
			text.WriteByte(' ')
		case 'u':
			n, err := strconv.ParseUint(string(document[i+1:min(i+5, len(document))]), 16, 16)
			if err != nil {
				continue // not JSON
			}
			text.WriteRune(rune(n)) // half of a surrogate pair is no letter of a name
			i += 4
		default:
			text.WriteByte(b)
		}
	}
	return text.String()
}
