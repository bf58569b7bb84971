package redact

import (
	"bytes"
	"strings"
)

// minSecret is the length of the shortest secret that is looked for, in bytes without white space. Shorter ones are in
// every text.
const minSecret = 4

// Secrets is a set of known secrets. The zero value is empty. It is safe for concurrent use.
type Secrets struct {
	byStart, byEnd map[[minSecret]byte][]string // without white space
	maxLength      int
}

// NewSecrets returns the set of the secrets. Each line counts as a secret, too, for a program may print one line of a
// key. Texts and lines that are shorter than four bytes are left out.
func NewSecrets(secrets ...string) *Secrets {
	s := &Secrets{byStart: map[[minSecret]byte][]string{}, byEnd: map[[minSecret]byte][]string{}}
	for _, text := range secrets {
		s.addSecret(text)
		for line := range strings.Lines(text) {
			if len(line) < len(text) {
				s.addSecret(line)
			}
		}
	}
	return s
}

func (s *Secrets) addSecret(text string) {
	compact := string(newView([]byte(text)).decodeWith(dropSpace).text)
	if len(compact) < minSecret {
		return
	}
	start, end := [minSecret]byte([]byte(compact)), [minSecret]byte([]byte(compact[len(compact)-minSecret:]))
	s.byStart[start], s.byEnd[end] = append(s.byStart[start], compact), append(s.byEnd[end], compact)
	s.maxLength = max(s.maxLength, len(compact))
}

// Remove replaces the secrets in a text, in every usual encoding.
func (s *Secrets) Remove(text string) string {
	var found []byteSpan
	for _, v := range decodeViews([]byte(text)) {
		found = s.findIn(found, v)
	}
	return joinParts([]byte(text), found, 0, len(text))
}

// findIn adds the parts of the original that hold a secret in the view.
func (s *Secrets) findIn(found []byteSpan, v view) []byteSpan {
	for at := 0; at+minSecret <= len(v.text); at++ {
		for _, secret := range s.byStart[[minSecret]byte(v.text[at:])] {
			if len(v.text)-at >= len(secret) && string(v.text[at:at+len(secret)]) == secret {
				found = append(found, byteSpan{int(v.from[at]), int(v.to[at+len(secret)-1])})
			}
		}
	}
	return found
}

// findCutEnd returns where a secret may begin that the end of the view cuts off; -1: nowhere. Fewer than four bytes of a
// secret are not recognized.
func (s *Secrets) findCutEnd(v view) int {
	for at := max(0, len(v.text)-s.maxLength); at+minSecret <= len(v.text); at++ {
		for _, secret := range s.byStart[[minSecret]byte(v.text[at:])] {
			if strings.HasPrefix(secret, string(v.text[at:])) {
				return int(v.from[at])
			}
		}
	}
	return -1
}

// findCutStart returns where a secret may end that the start of the view cuts off; -1: nowhere.
func (s *Secrets) findCutStart(v view) int {
	for end := min(len(v.text), s.maxLength); end >= minSecret; end-- {
		for _, secret := range s.byEnd[[minSecret]byte(v.text[end-minSecret:])] {
			if bytes.HasSuffix([]byte(secret), v.text[:end]) {
				return int(v.to[end-1])
			}
		}
	}
	return -1
}
