package toolchange

import "unicode"

// Hidden reports whether a character is read by models and invisible to people, or reverses text: zero-width
// and direction marks, tag characters, fillers, and the variation selectors supplement.
func Hidden(r rune) bool {
	const zeroWidthJoiner = 0x200d // part of emoji
	switch {
	case r < 0xad: // fast path
		return false
	case r == zeroWidthJoiner:
		return false
	case r >= 0xe0100 && r <= 0xe01ef:
		return true
	default: // the second class are fillers, which look blank
		return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
	}
}

// countHidden counts each hidden character, until the work is exhausted.
func (c *comparison) countHidden(texts []definitionText) map[rune]int {
	var count map[rune]int
	for _, t := range texts {
		if !c.work.spendUnits(hiddenByteWork * len(t.text)) {
			break
		}
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
