package toolchange

import (
	"strings"
	"unicode"
)

// TextOp says what became of a part of a text.
type TextOp string

// The operations.
const (
	Kept TextOp = "kept"
	Gone TextOp = "gone"
	Come TextOp = "come"
)

// TextSpan is a part of a text, or of two.
type TextSpan struct {
	Op   TextOp
	Text string
}

// mostWords are the words on each side that are compared one by one; of longer texts, only a common beginning and end are found.
const mostWords = 1500

// DiffText says what has to go from a text and to come for another one, word by word.
func DiffText(before, now string) []TextSpan {
	a, b := wordsOf(before), wordsOf(now)
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	to := 0
	for to < len(a)-from && to < len(b)-from && a[len(a)-1-to] == b[len(b)-1-to] {
		to++
	}
	var s spans
	s.put(Kept, a[:from]...)
	s.middle(a[from:len(a)-to], b[from:len(b)-to])
	s.put(Kept, a[len(a)-to:]...)
	return s.list
}

// wordsOf are the words of a text and what stands between them; together they are the text.
func wordsOf(text string) []string {
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

type spans struct{ list []TextSpan }

func (s *spans) put(op TextOp, words ...string) {
	text := strings.Join(words, "")
	switch last := len(s.list) - 1; {
	case text == "":
	case last >= 0 && s.list[last].Op == op:
		s.list[last].Text += text
	default:
		s.list = append(s.list, TextSpan{Op: op, Text: text})
	}
}

// middle compares by the longest common subsequence.
func (s *spans) middle(a, b []string) {
	if len(a) > mostWords || len(b) > mostWords || len(a) == 0 || len(b) == 0 {
		s.put(Gone, a...)
		s.put(Come, b...)
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
	s.follow(a, b, common, width)
}

func (s *spans) follow(a, b []string, common []uint16, width int) {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			s.put(Kept, a[i])
			i, j = i+1, j+1
		case common[(i+1)*width+j] >= common[i*width+j+1]:
			s.put(Gone, a[i])
			i++
		default:
			s.put(Come, b[j])
			j++
		}
	}
	s.put(Gone, a[i:]...)
	s.put(Come, b[j:]...)
}
