package i18n

import (
	"regexp"
	"strconv"
	"strings"
)

// verbForm matches a verb of a format: its number, if any, and its letter. "%%" is a percent sign.
var verbForm = regexp.MustCompile(`%%|%(?:\[(\d+)\])?[-+#0]*[\d.]*([a-zA-Z])`)

// formatShape is a format, split at its verbs.
type formatShape struct {
	texts []string // before, between and after the verbs
	verbs []formatVerb
	fixed int // bytes of fixed text
}

// formatVerb is a verb of a format.
type formatVerb struct {
	letter byte
	takes  int // index of the argument
}

func newShape(format string) formatShape {
	s := formatShape{texts: []string{""}}
	start, next := 0, 0
	for _, m := range verbForm.FindAllStringSubmatchIndex(format, -1) {
		s.addText(format[start:m[0]])
		if start = m[1]; m[4] < 0 {
			s.addText("%")
			continue
		}
		if m[2] >= 0 {
			number, _ := strconv.Atoi(format[m[2]:m[3]])
			next = number - 1
		}
		s.verbs = append(s.verbs, formatVerb{letter: format[m[4]], takes: next})
		s.texts = append(s.texts, "")
		next++
	}
	s.addText(format[start:])
	return s
}

func (s *formatShape) addText(text string) {
	s.texts[len(s.texts)-1] += text
	s.fixed += len(text)
}

// match returns the verbs' texts if a text has this shape.
func (s *formatShape) match(text string) ([]string, bool) {
	rest, ok := strings.CutPrefix(text, s.texts[0])
	if !ok {
		return nil, false
	}
	holds := make([]string, len(s.verbs))
	for i, v := range s.verbs {
		next, last := s.texts[i+1], i == len(s.verbs)-1
		hold, after, ok := cutAt(rest, next, v.letter, last)
		if !ok || !canProduce(v.letter, hold) || v.takes >= len(holds) || v.letter != 'q' && next != "" && len(sentenceEnds(hold)) > 1 {
			return nil, false
		}
		holds[v.takes], rest = hold, after
	}
	return holds, true
}

// cutAt cuts a text where a verb's text ends: before the next fixed text.
func cutAt(text, next string, letter byte, last bool) (hold, after string, ok bool) {
	switch {
	case letter == 'q':
		quoted, err := strconv.QuotedPrefix(text)
		after, ok = strings.CutPrefix(strings.TrimPrefix(text, quoted), next)
		return quoted, after, ok && err == nil && (!last || after == "")
	case last:
		hold, ok = strings.CutSuffix(text, next)
		return hold, "", ok
	default:
		hold, after, ok = strings.Cut(text, next)
		return hold, after, ok && next != "" // adjacent verbs cannot be separated
	}
}

// canProduce reports whether a verb can have written this.
func canProduce(letter byte, hold string) bool {
	switch letter {
	case 'd', 'f', 'g':
		return hold != "" && strings.Trim(hold, "-0123456789.e+") == ""
	default:
		return true
	}
}

// fill replaces the verbs by texts.
func (s *formatShape) fill(holds []string) string {
	var b strings.Builder
	b.WriteString(s.texts[0])
	for i, v := range s.verbs {
		if v.takes < len(holds) {
			b.WriteString(holds[v.takes])
		}
		b.WriteString(s.texts[i+1])
	}
	return b.String()
}

// formatPair is a format with its translation.
type formatPair struct{ english, translation formatShape }

// formatIndex has formats by their first word; those that begin with a verb or a part of a word are under "".
type formatIndex map[string][]*formatPair

func (all formatIndex) add(english, translation string) {
	p := &formatPair{english: newShape(english), translation: newShape(translation)}
	first, _, isWord := strings.Cut(p.english.texts[0], " ")
	if !isWord {
		first = ""
	}
	all[first] = append(all[first], p)
}

// bestMatch returns the matching pair with the most fixed text, and the verbs' texts; nil if none matches.
func (all formatIndex) bestMatch(text string) (best *formatPair, holds []string) {
	first, _, _ := strings.Cut(text, " ")
	for _, list := range [2][]*formatPair{all[first], all[""]} {
		for _, p := range list {
			if best != nil && p.english.fixed <= best.english.fixed {
				continue
			}
			if found, ok := p.english.match(text); ok {
				best, holds = p, found
			}
		}
		if first == "" {
			break
		}
	}
	return best, holds
}
