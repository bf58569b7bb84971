package agentview

import (
	"encoding/binary"
	"hash/maphash"
)

// findDuplicateMembers returns valid if an object, at any depth, has a member twice; undecided if the text is
// too large.
func (r *validator) findDuplicateMembers() validity {
	var set hashSet
	var open []int // offsets of the enclosing objects; -1: an array
	var key []byte
	for pos := 0; pos < len(r.text); {
		switch r.text[pos] {
		case '{':
			open = append(open, pos)
		case '[':
			open = append(open, -1)
		case '}', ']':
			open = open[:len(open)-1]
		case '"':
			text, end := r.readString(pos)
			if r.stopped {
				return undecided
			}
			if end = r.skipSpace(end); end == len(r.text) || r.text[end] != ':' {
				pos = end
				continue
			}
			if !r.spendWork(workHash) || len(text.raw) > maxCanonical {
				return undecided
			}
			key = binary.BigEndian.AppendUint64(key[:0], uint64(open[len(open)-1]))
			key = append(key, r.unescapeString(text)...)
			switch fresh, room := set.add(maphash.Bytes(hashSeed, key)); {
			case !room:
				return undecided
			case !fresh:
				return valid
			}
			pos = end
			continue
		}
		pos++
	}
	if !r.spendWork(len(r.text)) {
		return undecided
	}
	return invalid
}
