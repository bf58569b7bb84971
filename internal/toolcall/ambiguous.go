package toolcall

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// ambiguous tells whether readers of a JSON text differ on what it says: an object has two members of one name, and each reader takes the
// one that it likes, or a string holds half a character.
func ambiguous(raw []byte) bool {
	if halved(raw) {
		return true
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return repeats(dec) || dec.More()
}

// repeats tells whether an object of the next value names a member twice, or there is no value.
func repeats(dec *json.Decoder) bool {
	token, err := dec.Token()
	if err != nil {
		return true
	}
	opened, nested := token.(json.Delim)
	if !nested {
		return false
	}
	seen := map[json.Token]bool{}
	for dec.More() {
		if opened == '{' {
			name, err := dec.Token()
			if err != nil || seen[name] {
				return true
			}
			seen[name] = true
		}
		if repeats(dec) {
			return true
		}
	}
	_, err = dec.Token()
	return err != nil
}

// halved tells whether half of a surrogate pair is escaped without the other, or there is what is no UTF-8: both are read as U+FFFD,
// whatever they were.
func halved(raw []byte) bool {
	if !utf8.Valid(raw) {
		return true
	}
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 || at+1 == len(raw) {
			return false
		}
		first, second := unit(raw[at:]), rune(0)
		if raw = raw[at+2:]; !utf16.IsSurrogate(first) {
			continue
		}
		if len(raw) > 4 {
			second = unit(raw[4:])
		}
		if utf16.DecodeRune(first, second) == utf8.RuneError {
			return true
		}
		raw = raw[len(`0000\u0000`):]
	}
}

// unit is the number of the escape that b begins with; 0: it has none.
func unit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n)
}
