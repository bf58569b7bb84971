package history

import (
	"bytes"
	"slices"
)

const (
	minRandom = 24   // a shorter word is no key that anybody makes
	maxRandom = 1024 // a longer one is data, as an image's
)

// span is a part of the document.
type span struct{ from, to int }

// text takes secrets out of the text of a JSON string, which stands between from and to, escapes and all.
func (r *redaction) text(from, to int) {
	if to-from < 8 {
		return
	}
	s := r.doc[from:to]
	var found []span
	found = named(found, s)
	found = flags(found, s)
	found = bearers(found, s)
	found = privateKeys(found, s)
	found = passwordsInURLs(found, s)
	found = randomWords(found, s)
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	for _, f := range found {
		r.cut(from+f.from, from+f.to, redacted)
	}
}

// separators stand between a secret's name and its value. Some programs write "=" so that it may stand in a page.
var separators = [][]byte{[]byte(":"), []byte("="), []byte(`\u003d`)}

// named finds what follows a secret's name and ":" or "=", as in password=x and in JSON within the text.
func named(found []span, s []byte) []span {
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
			if !secretName(name) || separator[0] == ':' && inProse(name) && kindOf(before[len(before)-1]) != 0 {
				continue
			}
			if v := valueAt(s, at, untilOf(name)); v.to > v.from {
				found = append(found, v)
			}
		}
	}
	return found
}

// endsValue are the bytes that end a value that is not quoted.
const endsValue = " ,;&'\"\\<>)]}"

// untilOf tells what ends the value of a name: that of a header goes on over blanks, and that of a cookie has several parts.
func untilOf(name []byte) string {
	name = bytes.ToLower(name)
	switch {
	case bytes.HasSuffix(name, []byte("cookie")):
		return "'\"\\<>)]}"
	case len(name) > len("auth") && bytes.HasPrefix(name, []byte("auth")):
		return endsValue[1:]
	}
	return endsValue
}

// longestQuoted is how far a quotation mark's other half is looked for.
const longestQuoted = 4 << 10

// valueAt is the value that begins at, after space: what is quoted, or as far as none of until's bytes comes.
func valueAt(s []byte, at int, until string) span {
	from, mark := valueAfter(s, at)
	if to := quotedEnd(s, from, mark); to >= 0 {
		return span{from, to}
	}
	if n := bytes.IndexAny(s[from:], until); n >= 0 {
		return span{from, from + n}
	}
	return span{from, len(s)}
}

// quotedEnd is where the other half of a quotation mark stands; -1: it is not near. '"' is written with an escape, and one that belongs to the
// value with more.
func quotedEnd(s []byte, from int, mark byte) int {
	escapes := 0
	for i := from; mark != 0 && i < min(len(s), from+longestQuoted); i++ {
		switch {
		case s[i] == '\\':
			escapes++
			continue
		case s[i] == mark && mark == '\'':
			return i
		case s[i] == mark && escapes == 1:
			return i - 1
		}
		escapes = 0
	}
	return -1
}

// valueAfter is where a value begins, after space and an opening quotation mark, which may be an escaped one; 0: there is none.
func valueAfter(s []byte, at int) (from int, mark byte) {
	for at < len(s) {
		switch {
		case s[at] == ' ':
			at++
		case s[at] == '\'':
			at, mark = at+1, '\''
		case s[at] == '\\' && at+1 < len(s) && s[at+1] == '"':
			at, mark = at+2, '"'
		default:
			return at, mark
		}
	}
	return at, mark
}

// flags finds what follows a flag of a command line in a text, as in "x --token y", and the password of "curl -u user:password".
func flags(found []span, s []byte) []span {
	for at := 0; ; {
		i := bytes.IndexByte(s[at:], '-')
		if i < 0 {
			return found
		}
		from := at + i
		end := from
		for end < len(s) && (isWord[s[end]] && s[end] != '=' && s[end] != '/') {
			end++
		}
		at = end
		if end == len(s) || s[end] != ' ' || from > 0 && bytes.IndexByte([]byte(" '\"([;|&`"), s[from-1]) < 0 {
			continue
		}
		flag, v := s[from:end], valueAt(s, end, endsValue)
		if v.to == v.from || s[v.from] == '-' {
			continue
		}
		user := string(flag) == "-u" || string(flag) == "--user"
		switch colon := bytes.IndexByte(s[v.from:v.to], ':'); {
		case user && colon >= 0 && v.from+colon+1 < v.to:
			found = append(found, span{v.from + colon + 1, v.to})
		case secretFlag(flag):
			found = append(found, v)
		}
	}
}

// nameBefore is the word that ends s, but for quotes and space.
func nameBefore(s []byte) []byte {
	s = s[max(0, len(s)-64):]
	s = bytes.TrimRight(s, ` "'\`)
	i := len(s)
	for i > 0 && isWord[s[i-1]] && s[i-1] != '/' && s[i-1] != '.' {
		i--
	}
	return s[i:]
}

// bearers finds the tokens of "Bearer x".
func bearers(found []span, s []byte) []span {
	for _, first := range []byte("Bb") { // a rare letter is found faster than a word
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
			for to < len(s) && isWord[s[to]] {
				to++
			}
			if to-from >= 8 {
				found = append(found, span{from, to})
			}
		}
	}
	return found
}

// privateKeys finds PEM blocks of private keys, also such as are cut off.
func privateKeys(found []span, s []byte) []span {
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
		found, at = append(found, span{from, to}), to
	}
}

// passwordsInURLs finds those of scheme://user:password@host.
func passwordsInURLs(found []span, s []byte) []span {
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
			found = append(found, span{at + user + 1, at + host})
		}
	}
}

// randomWords finds long words that look random. It looks at every 24th byte only: a word that it would have to look at has one of
// them.
func randomWords(found []span, s []byte) []span {
	for at := 0; at+minRandom <= len(s); {
		last := at + minRandom - 1
		from := last
		for from >= at && isWord[s[from]] {
			from--
		}
		if from >= at { // a break: a long word begins after it, if at all
			at = afterBreak(s, from)
			continue
		}
		to := last + 1
		for to < len(s) && isWord[s[to]] {
			to++
		}
		if looksRandom(s[at:to]) {
			found = append(found, span{at, to})
		}
		at = to
	}
	return found
}

// afterBreak is where a word may begin after a byte that is in none. An escape's letters belong to no word.
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
