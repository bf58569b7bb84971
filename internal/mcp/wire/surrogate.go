package wire

import "strconv"

// hasLoneSurrogate reports whether a string holds one escape of a surrogate pair without the other. Decoders
// read U+FFFD, so the name could not be sent back.
func hasLoneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); {
		n := escapeLength(raw[i:])
		if raw[i] != '\\' || n == 0 {
			i++
			continue
		}
		first, second := readCodeUnit(raw[i:]), uint64(0)
		if i += n; i < len(raw) && raw[i] == '\\' {
			second = readCodeUnit(raw[i:])
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

// readCodeUnit returns the UTF-16 code unit of a \u escape; 0: none.
func readCodeUnit(b []byte) uint64 {
	if len(b) < 6 || b[1] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(b[2:6]), 16, 16)
	return n
}
