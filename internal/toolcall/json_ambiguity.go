package toolcall

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// isAmbiguous reports whether parsers may read a JSON text differently: duplicate members, or invalid Unicode.
func isAmbiguous(raw []byte) bool {
	if hasInvalidUnicode(raw) {
		return true
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return hasDuplicateMember(dec) || dec.More()
}

// hasDuplicateMember reports whether an object in the next value repeats a member, or the value is invalid.
func hasDuplicateMember(dec *json.Decoder) bool {
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
		if hasDuplicateMember(dec) {
			return true
		}
	}
	_, err = dec.Token()
	return err != nil
}

// hasInvalidUnicode reports whether the text has an unpaired escaped surrogate or invalid UTF-8. Both decode as
// U+FFFD.
func hasInvalidUnicode(raw []byte) bool {
	if !utf8.Valid(raw) {
		return true
	}
	for {
		backslash := bytes.IndexByte(raw, '\\')
		if backslash < 0 || backslash+1 == len(raw) {
			return false
		}
		first, second := parseEscape(raw[backslash:]), rune(0)
		if raw = raw[backslash+2:]; !utf16.IsSurrogate(first) {
			continue
		}
		if len(raw) > 4 {
			second = parseEscape(raw[4:])
		}
		if utf16.DecodeRune(first, second) == utf8.RuneError {
			return true
		}
		raw = raw[len(`0000\u0000`):]
	}
}

// parseEscape is the code unit of the \u escape at the start of b; 0: none.
func parseEscape(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n)
}
