package words

import (
	"regexp"
	"strconv"
	"strings"
)

// verbForm is a verb of a format: its number, where it has one, and its letter. "%%" is none: it writes a percent sign.
var verbForm = regexp.MustCompile(`%%|%(?:\[(\d+)\])?[-+#0]*[\d.]*([a-zA-Z])`)

// shape is a format, cut at its verbs.
type shape struct {
	texts []string // before, between and after the verbs
	verbs []verb
	fixed int // bytes that stand in it each time
}

// verb is where a format puts something in.
type verb struct {
	letter byte
	takes  int // which of what there is, from 0
}

func shapeOf(format string) shape {
	s := shape{texts: []string{""}}
	at, next := 0, 0
	for _, m := range verbForm.FindAllStringSubmatchIndex(format, -1) {
		s.say(format[at:m[0]])
		if at = m[1]; m[4] < 0 {
			s.say("%")
			continue
		}
		if m[2] >= 0 {
			number, _ := strconv.Atoi(format[m[2]:m[3]])
			next = number - 1
		}
		s.verbs = append(s.verbs, verb{letter: format[m[4]], takes: next})
		s.texts = append(s.texts, "")
		next++
	}
	s.say(format[at:])
	return s
}

func (s *shape) say(text string) {
	s.texts[len(s.texts)-1] += text
	s.fixed += len(text)
}

// match is what the verbs hold in a text of this shape.
func (s *shape) match(text string) ([]string, bool) {
	rest, ok := strings.CutPrefix(text, s.texts[0])
	if !ok {
		return nil, false
	}
	holds := make([]string, len(s.verbs))
	for i, v := range s.verbs {
		next, last := s.texts[i+1], i == len(s.verbs)-1
		hold, after, ok := cutAt(rest, next, v.letter, last)
		if !ok || !fits(v.letter, hold) || v.takes >= len(holds) || v.letter != 'q' && next != "" && len(sentenceEnds(hold)) > 1 {
			return nil, false
		}
		holds[v.takes], rest = hold, after
	}
	return holds, true
}

// cutAt cuts a text where a verb's content ends: before what follows in the shape.
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
		return hold, after, ok && next != "" // two verbs with nothing between them cannot be told apart
	}
}

// fits tells whether a verb can have written this.
func fits(letter byte, hold string) bool {
	switch letter {
	case 'd', 'f', 'g':
		return hold != "" && strings.Trim(hold, "-0123456789.e+") == ""
	default:
		return true
	}
}

// fill puts texts in the places of the verbs.
func (s *shape) fill(holds []string) string {
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

// pair is a format with its translation.
type pair struct{ english, said shape }

// pairs are formats by the word that they begin with; those that begin with a verb, or with a part of a word, by none.
type pairs map[string][]*pair

func (all pairs) add(english, said string) {
	p := &pair{english: shapeOf(english), said: shapeOf(said)}
	first, _, whole := strings.Cut(p.english.texts[0], " ")
	if !whole {
		first = ""
	}
	all[first] = append(all[first], p)
}

// of is the pair of which a text has the most words, with what it holds; nil where there is none.
func (all pairs) of(text string) (best *pair, holds []string) {
	first, _, _ := strings.Cut(text, " ")
	for _, list := range [2][]*pair{all[first], all[""]} {
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
