package toolsearch

import (
	"bytes"
	"encoding/json"
)

// The functions here find values in JSON without decoding the rest: a schema has many keywords that no search needs.
// They stop at the first mistake, and do not find all mistakes.

// scanMembers passes the members of an object to yield, until it returns false.
func scanMembers(raw []byte, yield func(key string, value []byte) bool) {
	raw, ok := openBracket(raw, '{')
	for ok {
		var key, value []byte
		if key, raw, ok = cutValue(raw); !ok || key[0] != '"' {
			return
		}
		if raw = skipSpace(raw); len(raw) == 0 || raw[0] != ':' {
			return
		}
		if value, raw, ok = cutValue(raw[1:]); !ok || !yield(decodeString(key), value) {
			return
		}
		raw, ok = cutComma(raw)
	}
}

// scanElements passes the elements of an array to yield, until it returns false.
func scanElements(raw []byte, yield func(value []byte) bool) {
	raw, ok := openBracket(raw, '[')
	for ok {
		var value []byte
		if value, raw, ok = cutValue(raw); !ok || !yield(value) {
			return
		}
		raw, ok = cutComma(raw)
	}
}

func openBracket(raw []byte, bracket byte) ([]byte, bool) {
	raw = skipSpace(raw)
	if len(raw) == 0 || raw[0] != bracket {
		return nil, false
	}
	return raw[1:], true
}

func cutComma(raw []byte) ([]byte, bool) {
	raw = skipSpace(raw)
	if len(raw) == 0 || raw[0] != ',' {
		return nil, false
	}
	return raw[1:], true
}

func skipSpace(raw []byte) []byte {
	return bytes.TrimLeft(raw, " \t\r\n")
}

// cutValue returns the value at the start of raw, and what follows.
func cutValue(raw []byte) (value, rest []byte, ok bool) {
	raw = skipSpace(raw)
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '"':
			size := stringSize(raw[i:])
			if size == 0 {
				return nil, nil, false
			}
			i += size - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return nil, nil, false
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return nil, nil, false
			}
			continue
		default:
			for i+1 < len(raw) && !isDelimiter(raw[i+1]) {
				i++
			}
		}
		if depth == 0 {
			return raw[:i+1], raw[i+1:], true
		}
	}
	return nil, nil, false
}

// isDelimiter reports whether a number or a word like true ends before c.
func isDelimiter(c byte) bool {
	switch c {
	case ',', ':', '[', ']', '{', '}', '"', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// stringSize returns the length of the JSON string at the start of raw, with its quotes, or 0 if it has no end.
func stringSize(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		end := indexQuote(raw[i:])
		if end < 0 {
			return 0
		}
		if i += end; raw[i] == '"' {
			return i + 1
		}
		i++ // the escaped byte
	}
	return 0
}

// indexQuote returns the place of the first quote or backslash, or -1.
func indexQuote(raw []byte) int {
	end := bytes.IndexByte(raw, '"')
	if end < 0 {
		return bytes.IndexByte(raw, '\\')
	}
	if escape := bytes.IndexByte(raw[:end], '\\'); escape >= 0 {
		return escape
	}
	return end
}

// decodeString returns the text of a JSON string, or "" for other values.
func decodeString(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // a malformed escape gives no text
	return s
}
