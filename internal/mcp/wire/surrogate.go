package wire

import "strconv"

// halved tells whether a string that the scanner read holds half a character: one escape of a surrogate pair without the other.
// What reads it puts U+FFFD in its place, so that nobody could write the string again.
func halved(raw []byte) bool {
	for i := 0; i < len(raw); {
		n := escapeLength(raw[i:])
		if raw[i] != '\\' || n == 0 {
			i++
			continue
		}
		first, second := unit(raw[i:]), uint64(0)
		if i += n; i < len(raw) && raw[i] == '\\' {
			second = unit(raw[i:])
		}
		switch {
		case first>>10 == 0xD800>>10 && second>>10 == 0xDC00>>10:
			i += len(`\udc00`)
		case first>>11 == 0xD800>>11:
			return true
		}
	}
	return false
}

// unit is the number of the escape that b begins with; 0: it has none.
func unit(b []byte) uint64 {
	if len(b) < 6 || b[1] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(b[2:6]), 16, 16)
	return n
}
