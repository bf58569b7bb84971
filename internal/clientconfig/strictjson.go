package clientconfig

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

// whitespace is JSON's (RFC 8259 section 2).
const whitespace = " \t\r\n"

// source is a document as strict JSON, with every byte on its original line.
type source struct {
	text  []byte
	lines []int // offsets of the second and later lines
}

// parseSource makes strict JSON of pasted text: it blanks comments, trailing commas and a Markdown fence, and
// adds braces around bare members.
func parseSource(document []byte) (source, error) {
	switch {
	case len(document) > MaxBytes:
		return source{}, fault.Errorf(fault.TooLarge, "Document larger than 1 MiB.")
	case !utf8.Valid(document):
		return source{}, fault.Errorf(fault.Malformed, "Not UTF-8 text.")
	}
	text := blankFence(bytes.TrimPrefix(document, []byte("\ufeff")))
	if tomlServers.Match(text) {
		converted, err := jsonOfTOML(text)
		if err != nil {
			return source{}, err
		}
		text = converted
	}
	plain := blankComments(text)
	switch first := bytes.TrimLeft(plain, whitespace); {
	case len(first) == 0:
		return source{}, fault.Errorf(fault.Malformed, "The document is empty. Add an mcpServers object.")
	case first[0] == '"':
		plain = blankComments(slices.Concat([]byte("{"), plain, []byte("}")))
	}
	s := source{text: plain}
	for i, b := range plain {
		if b == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s, s.validate()
}

// line returns the line of the byte at offset, from 1.
func (s source) line(offset int) int {
	return 1 + sort.SearchInts(s.lines, offset+1)
}

// validate returns an error with the line of a syntax error. The text there is not repeated: it may be a
// secret.
func (s source) validate() error {
	var whole json.RawMessage
	err := json.Unmarshal(slices.Concat(s.text, []byte(" ")), &whole) // the space tells an error after the end from one at the last byte
	if err == nil {
		return nil
	}
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case !ok:
		return fault.Errorf(fault.Malformed, "Not valid JSON.")
	case int(syntax.Offset) > len(s.text):
		last := len(bytes.TrimRight(s.text, whitespace)) - 1
		return fault.Errorf(fault.Malformed, "Line %d: unexpected end. A brace, bracket or quote is missing.", s.line(last))
	default:
		return fault.Errorf(fault.Malformed, "Line %d: invalid JSON. A comma, colon or quote may be missing.", s.line(int(syntax.Offset)-1))
	}
}

// blankFence blanks the ``` lines around a document.
func blankFence(text []byte) []byte {
	fence := []byte("```")
	trimmed := bytes.TrimSpace(text)
	if !bytes.HasPrefix(trimmed, fence) {
		return text
	}
	out := bytes.Clone(text)
	start := bytes.Index(out, fence)
	end := start + bytes.IndexByte(append(out[start:len(out):len(out)], '\n'), '\n')
	blankBytes(out[start:end])
	if last := bytes.LastIndex(out, fence); last >= 0 {
		blankBytes(out[last : last+len(fence)])
	}
	return out
}

func blankBytes(text []byte) {
	for i, b := range text {
		if b != '\n' {
			text[i] = ' '
		}
	}
}

// blankComments blanks comments and trailing commas; every other byte keeps its offset.
func blankComments(text []byte) []byte {
	out := bytes.Clone(text)
	comma := -1 // followed by white space alone
	for i := 0; i < len(out); {
		end := i + 1
		switch c := out[i]; {
		case c == '"':
			end, comma = afterString(out, i), -1
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end = afterComment(out, i)
			blankBytes(out[i:end])
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

// afterString returns the offset after the string at i. A line end ends it: JSON strings contain none.
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
