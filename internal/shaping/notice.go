package shaping

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Notice is what a shortened result says of the original.
type Notice struct {
	ID   string // of the call
	Tool string // the tool that reads the original; empty: the notice names none
	URI  string // of the original as a resource; empty: no link, for clients before 2025-06-18
}

// Summary says what was left out, without a full stop: "40 of 1,204 rows; 9 fields left out".
func (s Shaped) Summary() string {
	var said []string
	cuts := slices.Clone(s.Cuts)
	slices.SortStableFunc(cuts, func(a, b Cut) int { return cmp.Compare(b.bytes, a.bytes) })
	const maxCuts = 3
	for _, c := range cuts[:min(len(cuts), maxCuts)] {
		text := formatCount(c.Kept) + " of " + formatCount(c.Of) + " " + c.Unit
		if c.Path != "" {
			text += " in " + c.Path
		}
		said = append(said, text)
	}
	if more := len(cuts) - maxCuts; more > 0 {
		said = append(said, formatCount(more)+" more places shortened")
	}
	switch {
	case s.Fields == 1:
		said = append(said, "1 field left out")
	case s.Fields > 1:
		said = append(said, formatCount(s.Fields)+" fields left out")
	}
	if s.FilterFailed {
		said = append(said, "the choice of fields didn't work on this answer")
	}
	if len(said) == 0 {
		said = append(said, "about "+formatCount(s.After)+" tokens are here")
	}
	return strings.Join(said, "; ")
}

// formatCount writes a number with separators.
func formatCount(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// formatSentence returns the text of the notice.
func (n Notice) formatSentence(s Shaped) string {
	text := "Shortened: " + s.Summary() + "."
	if n.Tool != "" {
		text += fmt.Sprintf(" Read the rest with %s, id %q.", n.Tool, n.ID)
	}
	return text
}

// noticeName is the member of structured content with the notice, for clients that show a model nothing else.
const noticeName = `"_shortened"`

// encodeResult returns the result with its shortened parts. All other bytes stay.
func (r parsedResult) encodeResult(n Notice, s Shaped) []byte {
	sentence := quoteJSON(n.formatSentence(s))
	notice := append(append([]byte(`{"type":"text","text":`), sentence...), '}')
	if n.URI != "" {
		notice = append(notice, `,{"type":"resource_link","uri":`...)
		notice = append(append(notice, quoteJSON(n.URI)...), `,"name":"Whole answer","mimeType":"application/json"}`...)
	}
	out, found := []byte{'{'}, false
	for i, m := range r.top {
		out = append(append(appendComma(out, i), m.name...), ':')
		switch {
		case m.hasName(`"content"`):
			found = true
			out = append(r.appendContent(out, notice), ']')
		case m.hasName(`"structuredContent"`):
			out = r.appendStructured(out, m.value, sentence)
		default:
			out = append(out, m.value...)
		}
	}
	if !found {
		out = append(append(append(appendComma(out, len(r.top)), `"content":[`...), notice...), ']')
	}
	return append(out, '}')
}

// appendContent appends the blocks and the notice, without the closing bracket.
func (r parsedResult) appendContent(to, notice []byte) []byte {
	to = append(to, '[')
	next, kept := 0, 0 // the parts are in the order of their blocks
	for i, b := range r.blocks {
		if r.left[i] {
			continue
		}
		block := b.value
		if next < len(r.parts) && r.parts[next].block == i {
			if p := r.parts[next]; !bytes.Equal(p.out, p.doc) {
				block = replaceWithin(block, p.field, quoteJSON(string(p.out)))
			}
			next++
		}
		to = append(appendComma(to, kept), block...)
		kept++
	}
	return append(appendComma(to, kept), notice...)
}

// replaceWithin returns block with another value in place of field, a slice of its array.
func replaceWithin(block, field, value []byte) []byte {
	start := cap(block) - cap(field) // both end where the result does
	out := append([]byte{}, block[:start]...)
	out = append(out, value...)
	return append(out, block[start+len(field):]...)
}

// appendStructured appends the structured content with the notice as a member.
func (r parsedResult) appendStructured(to, value, sentence []byte) []byte {
	for _, p := range r.parts {
		if p.block < 0 {
			value = p.out
		}
	}
	if len(value) == 0 || value[0] != '{' {
		return append(to, value...)
	}
	if own, _ := findMember(value, noticeName); own != nil {
		return append(to, value...) // the server's own
	}
	to = append(append(append(append(to, '{'), noticeName...), ':'), sentence...)
	if rest := value[skipSpace(value, 1):]; rest[0] != '}' {
		to = append(append(to, ','), rest...)
		return to
	}
	return append(to, '}')
}
