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
	found = bearers(found, s)
	found = privateKeys(found, s)
	found = passwordsInURLs(found, s)
	found = randomWords(found, s)
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	for _, f := range found {
		r.cut(from+f.from, from+f.to, redacted)
	}
}

// named finds what follows a secret's name and ":" or "=", as in password=x and in JSON within the text.
func named(found []span, s []byte) []span {
	for _, separator := range []byte(":=") {
		for at := 0; ; {
			i := bytes.IndexByte(s[at:], separator)
			if i < 0 {
				break
			}
			at += i + 1
			name := nameBefore(s[:at-1])
			if !secretName(name) || separator == ':' && inProse(name) && kindOf(s[at-2]) != 0 {
				continue
			}
			from := valueAfter(s, at)
			until := " ,;&'\"\\<>)]}"
			if len(name) > len("auth") && bytes.HasPrefix(bytes.ToLower(name), []byte("auth")) { // of a header, whose value has two words
				until = until[1:]
			}
			if n := bytes.IndexAny(s[from:], until); n > 0 {
				found = append(found, span{from, from + n})
			} else if n < 0 && from < len(s) {
				found = append(found, span{from, len(s)})
			}
		}
	}
	return found
}

// valueAfter is where a value begins, after space and an opening quote, which may be an escaped one.
func valueAfter(s []byte, at int) int {
	for at < len(s) {
		switch {
		case s[at] == ' ', s[at] == '\'':
			at++
		case s[at] == '\\' && at+1 < len(s) && s[at+1] == '"':
			at += 2
		default:
			return at
		}
	}
	return at
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
