package access

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
)

// maxCanonical bounds the canonical form of one value, in bytes.
const maxCanonical = 1 << 20

// oneOfValues judges whether a value is one of an enum's.
func (r *run) oneOfValues(e *enum, at int) verdict {
	switch kind := kindAt(r.text[at]); kind {
	case isString:
		text, _ := r.quoted(at)
		return sure(r.among(e, text))
	case isBool, isNull:
		return sure(e.other[string(r.text[at:r.skip(at)])])
	case isArray, isObject:
		if len(e.composites) == 0 {
			return refused
		}
		form, _, ok := r.canonical(nil, at)
		if !ok {
			return undecided
		}
		r.spend(4 * len(form))
		return sure(e.composites[string(form)])
	default:
		end := r.skip(at)
		if !r.afford(workDigit * (end - at)) {
			return undecided
		}
		n, err := judged(r.text[at:end])
		return sure(err == nil && e.numbers[n])
	}
}

func sure(yes bool) verdict {
	if yes {
		return accepted
	}
	return refused
}

// canonical appends a form of a value that equal values share and others do not. ok is false where it would be too long, or cannot be
// known. Numbers are compared by value, members in any order (JSON Schema 2020-12 core, section 4.2.2).
func (r *run) canonical(to []byte, at int) (form []byte, end int, ok bool) {
	if !r.spend(2*workNode) || len(to) > maxCanonical || r.depth >= maxDepth {
		return to, at, false
	}
	switch kind := kindAt(r.text[at]); kind {
	case isString:
		text, end := r.quoted(at)
		if len(text.raw) > maxCanonical {
			return to, at, false
		}
		return appendText(to, r.unescaped(text)), end, true
	case isBool, isNull:
		return append(to, r.text[at]), r.skip(at), true
	case isArray, isObject:
		r.depth++
		if kind == isArray {
			to, end, ok = r.canonicalArray(to, at)
		} else {
			to, end, ok = r.canonicalObject(to, at)
		}
		r.depth--
		return to, end, ok
	default:
		if end = r.skip(at); !r.afford(workDigit * (end - at)) {
			return to, end, false
		}
		n, err := judged(r.text[at:end])
		return binary.BigEndian.AppendUint64(append(to, '0'), math.Float64bits(n+0)), end, err == nil // -0+0 is 0
	}
}

func appendText(to, text []byte) []byte {
	return append(binary.AppendUvarint(append(to, '"'), uint64(len(text))), text...)
}

func (r *run) canonicalArray(to []byte, at int) (form []byte, end int, ok bool) {
	to = append(to, '[')
	for at = r.space(at + 1); r.text[at] != ']'; {
		if to, at, ok = r.canonical(to, at); !ok {
			return to, at, false
		}
		if at = r.space(at); r.text[at] == ',' {
			at = r.space(at + 1)
		}
	}
	return append(to, ']'), at + 1, true
}

func (r *run) canonicalObject(to []byte, at int) (form []byte, end int, ok bool) {
	to = append(to, '{')
	from := len(to)
	var members []span
	for at = r.space(at + 1); r.text[at] != '}'; {
		name, colon := r.quoted(at)
		if len(name.raw) > maxCanonical {
			return to, at, false
		}
		start := len(to)
		to = appendText(to, r.unescaped(name))
		if to, at, ok = r.canonical(to, r.space(r.space(colon)+1)); !ok {
			return to, at, false
		}
		members = append(members, span{start, len(to)})
		if at = r.space(at); r.text[at] == ',' {
			at = r.space(at + 1)
		}
	}
	if len(members) > 1 {
		r.spend(4*(len(to)-from) + workNote*len(members))
		all := bytes.Clone(to[from:])
		part := func(s span) []byte { return all[s.from-from : s.to-from] }
		slices.SortFunc(members, func(a, b span) int { return bytes.Compare(part(a), part(b)) })
		to = to[:from]
		for _, m := range members {
			to = append(to, part(m)...)
		}
	}
	return append(to, '}'), at + 1, true
}

var hashSeed = maphash.MakeSeed()

// unique judges whether no two items of an array are equal. Items whose canonical forms have the same 64-bit hash count as equal: of
// [maxHashes] items that are not, two have it once in a billion processes.
func (r *run) unique(at int) verdict {
	var set hashSet
	var form []byte
	for at = r.space(at + 1); r.text[at] != ']'; {
		var ok bool
		if form, at, ok = r.canonical(form[:0], at); !ok {
			return undecided
		}
		r.spend(workHash + len(form))
		switch fresh, room := set.add(maphash.Bytes(hashSeed, form)); {
		case !room:
			return undecided
		case !fresh:
			return refused
		}
		if at = r.space(at); r.text[at] == ',' {
			at = r.space(at + 1)
		}
	}
	return accepted
}

const (
	workHash  = 30      // a hash that is added to a set
	maxHashes = 1 << 17 // of one set
)

// hashSet is a set of hashes in a table of at most 2 MiB. The zero value is empty.
type hashSet struct {
	slots []uint64 // a power of two of them; 0: free
	n     int
}

// add reports whether a hash is new, and whether there is room for it.
func (s *hashSet) add(hash uint64) (fresh, room bool) {
	if hash == 0 {
		hash = 1
	}
	if 2*s.n >= len(s.slots) {
		if s.n >= maxHashes {
			return false, false
		}
		s.grow()
	}
	for i := hash & uint64(len(s.slots)-1); ; i = (i + 1) & uint64(len(s.slots)-1) {
		switch s.slots[i] {
		case 0:
			s.slots[i] = hash
			s.n++
			return true, true
		case hash:
			return false, true
		}
	}
}

func (s *hashSet) grow() {
	old := s.slots
	*s = hashSet{slots: make([]uint64, max(32, 2*len(old)))}
	for _, hash := range old {
		if hash != 0 {
			s.add(hash)
		}
	}
}
