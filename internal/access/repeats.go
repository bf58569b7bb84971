package access

import (
	"encoding/binary"
	"hash/maphash"
)

// repeats reports whether an object of the text, at any depth, names a member twice; undecided: there is too much to look at.
func (r *run) repeats() verdict {
	var set hashSet
	var open []int // where the objects begin in which the text stands at a place; -1: an array
	var key []byte
	for at := 0; at < len(r.text); {
		switch r.text[at] {
		case '{':
			open = append(open, at)
		case '[':
			open = append(open, -1)
		case '}', ']':
			open = open[:len(open)-1]
		case '"':
			text, end := r.quoted(at)
			if r.stopped {
				return undecided
			}
			if end = r.space(end); end == len(r.text) || r.text[end] != ':' {
				at = end
				continue
			}
			if !r.spend(workHash) || len(text.raw) > maxCanonical {
				return undecided
			}
			key = binary.BigEndian.AppendUint64(key[:0], uint64(open[len(open)-1]))
			key = append(key, r.unescaped(text)...)
			switch fresh, room := set.add(maphash.Bytes(hashSeed, key)); {
			case !room:
				return undecided
			case !fresh:
				return accepted
			}
			at = end
			continue
		}
		at++
	}
	if !r.spend(len(r.text)) {
		return undecided
	}
	return refused
}
