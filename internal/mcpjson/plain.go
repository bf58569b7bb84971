package mcpjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"unicode/utf8"

	"patchbay/internal/fault"
)

// Bounds of a document.
const (
	MaxBytes   = 1 << 20
	MaxEntries = 500
)

// space is what JSON has between values (RFC 8259 §2).
const space = " \t\r\n"

// source is a document as strict JSON, in which every byte stands on the line where it was written.
type source struct {
	text  []byte
	lines []int // where each line after the first begins
}

// parse makes strict JSON of what people paste: comments and commas too many are blanked, a fence of Markdown around it, too,
// and what begins with a key gets its braces.
func parse(document []byte) (source, error) {
	switch {
	case len(document) > MaxBytes:
		return source{}, fault.Errorf(fault.TooLarge, "A document has at most 1 MiB.")
	case !utf8.Valid(document):
		return source{}, fault.Errorf(fault.Malformed, "The document is not UTF-8 text.")
	}
	text := unfenced(bytes.TrimPrefix(document, []byte("\ufeff")))
	plain := strict(text)
	switch first := bytes.TrimLeft(plain, space); {
	case len(first) == 0:
		return source{}, fault.Errorf(fault.Malformed, "The document is empty. Give it an mcpServers object.")
	case first[0] == '"':
		plain = strict(slices.Concat([]byte("{"), plain, []byte("}")))
	}
	s := source{text: plain}
	for i, b := range plain {
		if b == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s, s.valid()
}

// line is where the byte at offset stands, from 1.
func (s source) line(offset int) int {
	return 1 + sort.SearchInts(s.lines, offset+1)
}

// valid says where the text stops being JSON. What stands there is not repeated: it can be a secret.
func (s source) valid() error {
	var whole json.RawMessage
	err := json.Unmarshal(slices.Concat(s.text, []byte(" ")), &whole) // so that an error behind the end is told from one at it
	if err == nil {
		return nil
	}
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case !ok:
		return fault.Errorf(fault.Malformed, "The document is not JSON.")
	case int(syntax.Offset) > len(s.text):
		last := len(bytes.TrimRight(s.text, space)) - 1
		return fault.Errorf(fault.Malformed, "Line %d: the document ends too early. A brace, a bracket or a quote is missing.", s.line(last))
	default:
		return fault.Errorf(fault.Malformed, "Line %d: this is not JSON. A comma, a colon or a quote may be missing before it.", s.line(int(syntax.Offset)-1))
	}
}

// unfenced blanks the ``` lines that a document copied from Markdown brings along.
func unfenced(text []byte) []byte {
	fence := []byte("```")
	trimmed := bytes.TrimSpace(text)
	if !bytes.HasPrefix(trimmed, fence) {
		return text
	}
	out := bytes.Clone(text)
	start := bytes.Index(out, fence)
	end := start + bytes.IndexByte(append(out[start:len(out):len(out)], '\n'), '\n')
	blank(out[start:end])
	if last := bytes.LastIndex(out, fence); last >= 0 {
		blank(out[last : last+len(fence)])
	}
	return out
}

func blank(text []byte) {
	for i, b := range text {
		if b != '\n' {
			text[i] = ' '
		}
	}
}

// strict blanks comments, and commas before a closing bracket; every other byte stays where it is.
func strict(text []byte) []byte {
	out := bytes.Clone(text)
	comma := -1 // a comma after which nothing but space has come
	for i := 0; i < len(out); {
		end := i + 1
		switch c := out[i]; {
		case c == '"':
			end, comma = afterString(out, i), -1
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end = afterComment(out, i)
			blank(out[i:end])
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			out[comma], comma = ' ', -1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma = -1
		}
		i = end
	}
	return out
}

// afterString is the offset behind the string that begins at i. A line end ends it: no JSON string holds one.
func afterString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"', '\n':
			return i + 1
		}
	}
	return len(text)
}

func afterComment(text []byte, i int) int {
	until := []byte("\n")
	if text[i+1] == '*' {
		until = []byte("*/")
	}
	n := bytes.Index(text[i+2:], until)
	switch {
	case n < 0:
		return len(text)
	case text[i+1] == '/':
		return i + 2 + n // the line end stays
	default:
		return i + 2 + n + len(until)
	}
}
