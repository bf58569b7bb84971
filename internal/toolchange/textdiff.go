package toolchange

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextOp is what happened to a part of a text.
type TextOp string

// The operations.
const (
	Kept     TextOp = "kept"
	Deleted  TextOp = "gone"
	Inserted TextOp = "come"
)

// TextSpan is a part of a text difference.
type TextSpan struct {
	Op   TextOp
	Text string
}

// Bounds of a word by word comparison. Longer texts are compared by their common prefix and suffix only.
const (
	maxDiffWords = 1500      // of each side, between the common words
	maxDiffBytes = 128 << 10 // of both sides
)

// DiffText returns the difference of two texts, word by word.
func DiffText(before, now string) []TextSpan {
	if len(before)+len(now) > maxDiffBytes {
		return diffLongText(before, now)
	}
	a, b := splitWords(before), splitWords(now)
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	to := 0
	for to < len(a)-from && to < len(b)-from && a[len(a)-1-to] == b[len(b)-1-to] {
		to++
	}
	var s spanBuilder
	s.addWords(Kept, a[:from]...)
	s.diffMiddle(a[from:len(a)-to], b[from:len(b)-to])
	s.addWords(Kept, a[len(a)-to:]...)
	return s.buildSpans()
}

// diffLongText compares by the common prefix and suffix, in whole characters.
func diffLongText(before, now string) []TextSpan {
	from := 0
	for from < len(before) && from < len(now) && before[from] == now[from] {
		from++
	}
	for from > 0 && !(isRuneStart(before, from) && isRuneStart(now, from)) {
		from--
	}
	end, endNow := len(before), len(now)
	for end > from && endNow > from && before[end-1] == now[endNow-1] {
		end, endNow = end-1, endNow-1
	}
	for end < len(before) && !isRuneStart(before, end) {
		end, endNow = end+1, endNow+1
	}
	var s spanBuilder
	s.addWords(Kept, before[:from])
	s.addWords(Deleted, before[from:end])
	s.addWords(Inserted, now[from:endNow])
	s.addWords(Kept, before[end:])
	return s.buildSpans()
}

// isRuneStart reports whether a character starts at i, or the text ends there.
func isRuneStart(text string, i int) bool { return i == len(text) || utf8.RuneStart(text[i]) }

// splitWords splits a text into words and separators, without loss.
func splitWords(text string) []string {
	var words []string
	start, kind := 0, -1
	for i, r := range text {
		k := 0
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			k = 1
		case unicode.IsSpace(r):
			k = 2
		}
		if i > start && (k != kind || k == 0) {
			words = append(words, text[start:i])
			start = i
		}
		kind = k
	}
	if start < len(text) {
		words = append(words, text[start:])
	}
	return words
}

// spanBuilder joins words to spans.
type spanBuilder struct {
	list  []TextSpan
	op    TextOp
	words []string // of the span in progress
}

func (s *spanBuilder) addWords(op TextOp, words ...string) {
	if len(words) == 0 {
		return
	}
	if op != s.op {
		s.endSpan()
		s.op = op
	}
	s.words = append(s.words, words...)
}

func (s *spanBuilder) endSpan() {
	if text := strings.Join(s.words, ""); text != "" {
		s.list = append(s.list, TextSpan{Op: s.op, Text: text})
	}
	s.words = s.words[:0]
}

func (s *spanBuilder) buildSpans() []TextSpan {
	s.endSpan()
	return s.list
}

// diffMiddle compares by the longest common subsequence.
func (s *spanBuilder) diffMiddle(a, b []string) {
	if len(a) > maxDiffWords || len(b) > maxDiffWords || len(a) == 0 || len(b) == 0 {
		s.addWords(Deleted, a...)
		s.addWords(Inserted, b...)
		return
	}
	width := len(b) + 1
	common := make([]uint16, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	s.appendDiff(a, b, common, width)
}

func (s *spanBuilder) appendDiff(a, b []string, common []uint16, width int) {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			s.addWords(Kept, a[i])
			i, j = i+1, j+1
		case common[(i+1)*width+j] >= common[i*width+j+1]:
			s.addWords(Deleted, a[i])
			i++
		default:
			s.addWords(Inserted, b[j])
			j++
		}
	}
	s.addWords(Deleted, a[i:]...)
	s.addWords(Inserted, b[j:]...)
}
