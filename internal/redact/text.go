package redact

import (
	"bytes"
	"slices"
)

const (
	minRandom = 24   // shorter words are no keys
	maxRandom = 1024 // longer words are data, for example of images
)

type byteSpan struct{ from, to int }

// redactText replaces secrets in the text of a JSON string between two offsets, with its escapes.
func (r *redactor) redactText(from, to int) {
	if to-from < 8 {
		return
	}
	s := r.doc[from:to]
	var found []byteSpan
	found = findNamedValues(found, s)
	found = findFlagValues(found, s)
	found = findBearerTokens(found, s)
	found = findPrivateKeys(found, s)
	found = findURLPasswords(found, s)
	found = findRandomWords(found, s)
	slices.SortFunc(found, func(a, b byteSpan) int { return a.from - b.from })
	for _, f := range found {
		r.replaceRange(from+f.from, from+f.to, redacted)
	}
}

// separators come between a secret's name and its value. Some encoders escape "=" for HTML.
var separators = [][]byte{[]byte(":"), []byte("="), []byte(`\u003d`)}

// findNamedValues finds values after a secret name and ":" or "=", as in password=x and in JSON within the
// text.
func findNamedValues(found []byteSpan, s []byte) []byteSpan {
	for _, separator := range separators {
		if len(separator) > 1 && bytes.IndexByte(s, separator[0]) < 0 {
			continue
		}
		for at := 0; ; {
			i := bytes.Index(s[at:], separator)
			if i < 0 {
				break
			}
			before := s[:at+i]
			at += i + len(separator)
			name := nameBefore(before)
			if !isSecretName(name) || separator[0] == ':' && isProseWord(name) && charClass(before[len(before)-1]) != 0 {
				continue
			}
			if v := valueAt(s, at, valueTerminators(name)); v.to > v.from {
				found = append(found, v)
			}
		}
	}
	return found
}

// valueEnd are the bytes that end an unquoted value.
const valueEnd = " ,;&'\"\\<>)]}"

// valueTerminators returns the bytes that end the value of a name: a header's value may contain blanks, a
// cookie's several parts.
func valueTerminators(name []byte) string {
	name = bytes.ToLower(name)
	switch {
	case bytes.HasSuffix(name, []byte("cookie")):
		return "'\"\\<>)]}"
	case len(name) > len("auth") && bytes.HasPrefix(name, []byte("auth")):
		return valueEnd[1:]
	}
	return valueEnd
}

// findKeyValues finds random values after a name that ends with "key", as in key=x. Names of settings end so, too.
func findKeyValues(found []byteSpan, s []byte) []byteSpan {
	const minKey = 16
	for _, separator := range separators {
		for at := 0; ; {
			i := bytes.Index(s[at:], separator)
			if i < 0 {
				break
			}
			name := bytes.ToLower(nameBefore(s[:at+i]))
			at += i + len(separator)
			if v := valueAt(s, at, valueEnd); bytes.HasSuffix(name, []byte("key")) && v.to-v.from >= minKey && isMixed(s[v.from:v.to]) {
				found = append(found, v)
			}
		}
	}
	return found
}

// maxQuoted bounds the search for a closing quote, in bytes.
const maxQuoted = 4 << 10

// valueAt returns the value at an offset, after blanks: a quoted one, or up to a byte of until.
func valueAt(s []byte, at int, until string) byteSpan {
	from, mark := valueAfter(s, at)
	if to := quotedEnd(s, from, mark); to >= 0 {
		return byteSpan{from, to}
	}
	if n := bytes.IndexAny(s[from:], until); n >= 0 {
		return byteSpan{from, from + n}
	}
	return byteSpan{from, len(s)}
}

// quotedEnd returns the offset of the closing quote; -1: none within maxQuoted. '"' has one escape; with more
// it belongs to the value.
func quotedEnd(s []byte, from int, mark byte) int {
	escapes := 0
	for i := from; mark != 0 && i < min(len(s), from+maxQuoted); i++ {
		switch {
		case s[i] == '\\':
			escapes++
			continue
		case s[i] == mark && mark == '\'', s[i] == '"' && mark == plainQuote && escapes%2 == 0:
			return i
		case s[i] == mark && mark == '"' && escapes == 1:
			return i - 1
		}
		escapes = 0
	}
	return -1
}

// plainQuote marks a value in '"' without an escape.
const plainQuote = 1

// valueAfter skips blanks and an opening quote, which may be escaped; mark 0: no quote.
func valueAfter(s []byte, at int) (from int, mark byte) {
	for at < len(s) {
		switch {
		case s[at] == ' ':
			at++
		case s[at] == '\'':
			at, mark = at+1, '\''
		case s[at] == '\\' && at+1 < len(s) && s[at+1] == '"':
			at, mark = at+2, '"'
		case s[at] == '"' && mark == 0:
			at, mark = at+1, plainQuote
		default:
			return at, mark
		}
	}
	return at, mark
}

// findFlagValues finds values after command-line flags, as in "x --token y", and the password of "curl -u
// user:password".
func findFlagValues(found []byteSpan, s []byte) []byteSpan {
	for at := 0; ; {
		i := bytes.IndexByte(s[at:], '-')
		if i < 0 {
			return found
		}
		from := at + i
		end := from
		for end < len(s) && (isTokenByte[s[end]] && s[end] != '=' && s[end] != '/') {
			end++
		}
		at = end
		if end == len(s) || s[end] != ' ' || from > 0 && bytes.IndexByte([]byte(" '\"([;|&`"), s[from-1]) < 0 {
			continue
		}
		flag, v := s[from:end], valueAt(s, end, valueEnd)
		if v.to == v.from || s[v.from] == '-' {
			continue
		}
		user := string(flag) == "-u" || string(flag) == "--user"
		switch colon := bytes.IndexByte(s[v.from:v.to], ':'); {
		case user && colon >= 0 && v.from+colon+1 < v.to:
			found = append(found, byteSpan{v.from + colon + 1, v.to})
		case isSecretFlag(flag):
			found = append(found, v)
		}
	}
}

// nameBefore returns the last word of s, without quotes and blanks.
func nameBefore(s []byte) []byte {
	s = s[max(0, len(s)-64):]
	s = bytes.TrimRight(s, ` "'\`)
	i := len(s)
	for i > 0 && isTokenByte[s[i-1]] && s[i-1] != '/' && s[i-1] != '.' {
		i--
	}
	return s[i:]
}

// findBearerTokens finds the token of "Bearer x".
func findBearerTokens(found []byteSpan, s []byte) []byteSpan {
	for _, first := range []byte("Bb") { // searching a rare letter is faster than a word
		for at := 0; ; {
			i := bytes.IndexByte(s[at:], first)
			if i < 0 {
				break
			}
			at += i + 1
			if !bytes.HasPrefix(s[at:], []byte("earer ")) {
				continue
			}
			from := at + len("earer ")
			to := from
			for to < len(s) && isTokenByte[s[to]] {
				to++
			}
			if to-from >= 8 {
				found = append(found, byteSpan{from, to})
			}
		}
	}
	return found
}

// findPrivateKeys finds PEM blocks of private keys, truncated ones too.
func findPrivateKeys(found []byteSpan, s []byte) []byteSpan {
	for at := 0; ; {
		i := bytes.Index(s[at:], []byte("-----BEGIN "))
		if i < 0 {
			return found
		}
		from := at + i
		at = from + len("-----BEGIN ")
		label, _, _ := bytes.Cut(s[at:], []byte("-----"))
		if !bytes.Contains(label[:min(len(label), 64)], []byte("PRIVATE KEY")) {
			continue
		}
		to := len(s)
		if end := bytes.Index(s[at:], []byte("-----END ")); end >= 0 {
			to = at + end
		}
		found, at = append(found, byteSpan{from, to}), to
	}
}

// findURLPasswords finds passwords of scheme://user:password@host.
func findURLPasswords(found []byteSpan, s []byte) []byteSpan {
	for at := 0; ; {
		i := bytes.Index(s[at:], []byte("://"))
		if i < 0 {
			return found
		}
		at += i + len("://")
		authority := s[at:]
		if end := bytes.IndexAny(authority, "/?# '\"\\<>"); end >= 0 {
			authority = authority[:end]
		}
		host := bytes.LastIndexByte(authority, '@')
		if user := bytes.IndexByte(authority, ':'); user >= 0 && user+1 < host {
			found = append(found, byteSpan{at + user + 1, at + host})
		}
	}
}

// findRandomWords finds long random words. It inspects every 24th byte only, for a word of minRandom bytes
// contains one of them.
func findRandomWords(found []byteSpan, s []byte) []byteSpan {
	for at := 0; at+minRandom <= len(s); {
		last := at + minRandom - 1
		from := last
		for from >= at && isTokenByte[s[from]] {
			from--
		}
		if from >= at { // a break: the next long word begins after it
			at = afterBreak(s, from)
			continue
		}
		to := last + 1
		for to < len(s) && isTokenByte[s[to]] {
			to++
		}
		if looksRandom(s[at:to]) {
			found = append(found, byteSpan{at, to})
		}
		at = to
	}
	return found
}

// afterBreak returns where a word may begin after a byte that is in none. An escape's letters belong to no
// word.
func afterBreak(s []byte, at int) int {
	switch {
	case s[at] != '\\' || at+1 >= len(s):
		return at + 1
	case s[at+1] == 'u':
		return at + len(`\u0000`)
	default:
		return at + 2
	}
}
