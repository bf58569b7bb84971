package toolchange

import "unicode"

// Hidden tells whether a character is one that a model reads and a person does not see, or that turns text around: zero-width and
// direction marks, tag characters, fillers, variation selectors past the common ones.
func Hidden(r rune) bool {
	const zeroWidthJoiner = 0x200d // emoji are made with it
	switch {
	case r < 0xad: // most of all text
		return false
	case r == zeroWidthJoiner:
		return false
	case r >= 0xe0100 && r <= 0xe01ef: // variation selectors supplement
		return true
	default: // the second are fillers, which look like a blank or like nothing
		return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
	}
}

// hidden counts the hidden characters of texts.
func hidden(texts []passage) map[rune]int {
	var count map[rune]int
	for _, t := range texts {
		for _, r := range t.text {
			if !Hidden(r) {
				continue
			}
			if count == nil {
				count = map[rune]int{}
			}
			count[r]++
		}
	}
	return count
}
