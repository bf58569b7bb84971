package agentview

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
)

// maxCanonical bounds a canonical form, in bytes.
const maxCanonical = 1 << 20

func (r *validator) validateEnum(e *enumValues, pos int) validity {
	switch kind := typeAt(r.text[pos]); kind {
	case typeString:
		text, _ := r.readString(pos)
		return toValidity(r.isEnumString(e, text))
	case typeBool, typeNull:
		return toValidity(e.literals[string(r.text[pos:r.skipValue(pos)])])
	case typeArray, typeObject:
		if len(e.composites) == 0 {
			return invalid
		}
		form, _, ok := r.appendCanonical(nil, pos)
		if !ok {
			return undecided
		}
		r.spendWork(4 * len(form))
		return toValidity(e.composites[string(form)])
	default:
		end := r.skipValue(pos)
		if !r.reserveWork(workDigit * (end - pos)) {
			return undecided
		}
		n, err := parseNumber(r.text[pos:end])
		return toValidity(err == nil && e.numbers[n])
	}
}

func toValidity(yes bool) validity {
	if yes {
		return valid
	}
	return invalid
}

// appendCanonical appends a form that only equal values share; ok is false if it would be too long. Numbers
// compare by value, members in any order (JSON Schema 2020-12 core, section 4.2.2).
func (r *validator) appendCanonical(to []byte, pos int) (form []byte, end int, ok bool) {
	if !r.spendWork(2*workNode) || len(to) > maxCanonical || r.depth >= maxDepth {
		return to, pos, false
	}
	switch kind := typeAt(r.text[pos]); kind {
	case typeString:
		text, end := r.readString(pos)
		if len(text.raw) > maxCanonical {
			return to, pos, false
		}
		return appendCanonicalString(to, r.unescapeString(text)), end, true
	case typeBool, typeNull:
		return append(to, r.text[pos]), r.skipValue(pos), true
	case typeArray, typeObject:
		r.depth++
		if kind == typeArray {
			to, end, ok = r.appendCanonicalArray(to, pos)
		} else {
			to, end, ok = r.appendCanonicalObject(to, pos)
		}
		r.depth--
		return to, end, ok
	default:
		if end = r.skipValue(pos); !r.reserveWork(workDigit * (end - pos)) {
			return to, end, false
		}
		n, err := parseNumber(r.text[pos:end])
		return binary.BigEndian.AppendUint64(append(to, '0'), math.Float64bits(n+0)), end, err == nil // -0+0 is 0
	}
}

func appendCanonicalString(to, text []byte) []byte {
	return append(binary.AppendUvarint(append(to, '"'), uint64(len(text))), text...)
}

func (r *validator) appendCanonicalArray(to []byte, pos int) (form []byte, end int, ok bool) {
	to = append(to, '[')
	for pos = r.skipSpace(pos + 1); r.text[pos] != ']'; {
		if to, pos, ok = r.appendCanonical(to, pos); !ok {
			return to, pos, false
		}
		if pos = r.skipSpace(pos); r.text[pos] == ',' {
			pos = r.skipSpace(pos + 1)
		}
	}
	return append(to, ']'), pos + 1, true
}

func (r *validator) appendCanonicalObject(to []byte, pos int) (form []byte, end int, ok bool) {
	to = append(to, '{')
	from := len(to)
	var members []byteRange
	for pos = r.skipSpace(pos + 1); r.text[pos] != '}'; {
		name, colon := r.readString(pos)
		if len(name.raw) > maxCanonical {
			return to, pos, false
		}
		start := len(to)
		to = appendCanonicalString(to, r.unescapeString(name))
		if to, pos, ok = r.appendCanonical(to, r.skipSpace(r.skipSpace(colon)+1)); !ok {
			return to, pos, false
		}
		members = append(members, byteRange{start, len(to)})
		if pos = r.skipSpace(pos); r.text[pos] == ',' {
			pos = r.skipSpace(pos + 1)
		}
	}
	if len(members) > 1 {
		r.spendWork(4*(len(to)-from) + workRecord*len(members))
		all := bytes.Clone(to[from:])
		part := func(s byteRange) []byte { return all[s.start-from : s.end-from] }
		slices.SortFunc(members, func(a, b byteRange) int { return bytes.Compare(part(a), part(b)) })
		to = to[:from]
		for _, m := range members {
			to = append(to, part(m)...)
		}
	}
	return append(to, '}'), pos + 1, true
}

var hashSeed = maphash.MakeSeed()

// validateUniqueItems compares 64-bit hashes of canonical forms. A collision among [maxHashes] items happens
// once in a billion processes.
func (r *validator) validateUniqueItems(pos int) validity {
	var set hashSet
	var form []byte
	for pos = r.skipSpace(pos + 1); r.text[pos] != ']'; {
		var ok bool
		if form, pos, ok = r.appendCanonical(form[:0], pos); !ok {
			return undecided
		}
		r.spendWork(workHash + len(form))
		switch fresh, room := set.add(maphash.Bytes(hashSeed, form)); {
		case !room:
			return undecided
		case !fresh:
			return invalid
		}
		if pos = r.skipSpace(pos); r.text[pos] == ',' {
			pos = r.skipSpace(pos + 1)
		}
	}
	return valid
}

const (
	workHash  = 30      // to add a hash to a set
	maxHashes = 1 << 17 // of one set
)

// hashSet is an open-addressing set of at most 2 MiB. The zero value is empty.
type hashSet struct {
	slots []uint64 // the length is a power of two; 0: free
	n     int
}

// add reports whether the hash is new, and whether the set had room.
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
