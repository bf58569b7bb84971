package shaping

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"patchbay/internal/fault"
	"patchbay/internal/openapi/httpcall"
)

// Bounds of one read.
const (
	DefaultPage    = 16 << 10 // bytes
	MaxPage        = 64 << 10
	maxPattern     = 500 // bytes
	maxContext     = 50  // lines before and after a match
	maxLine        = 2 << 10
	minPageForRune = utf8.UTFMax
)

// ReadRequest selects what is read of a result. At most one of JQ, Grep and Line is set.
type ReadRequest struct {
	Part    string // "0", "1", … for the content blocks, "structured", "result" for all of it as JSON; empty: the longest
	JQ      string
	Grep    string // RE2
	Context int    // lines before and after a match
	Offset  int    // in bytes, of the part or of what JQ or Grep return
	Line    int    // first line, from 1; 0: by Offset
	Limit   int    // bytes; 0: DefaultPage
}

// Page is a part of what was read. Text is whole characters.
type Page struct {
	Text  string
	From  int // in bytes
	To    int
	Total int
	Note  string // of a search
}

// Footer says where the page is, and how to go on.
func (p Page) Footer() string {
	text := fmt.Sprintf("Bytes %s–%s of %s.", formatCount(p.From), formatCount(p.To), formatCount(p.Total))
	if p.Note != "" {
		text = p.Note + " " + text
	}
	if p.To < p.Total {
		text += fmt.Sprintf(" Go on with offset %d.", p.To)
	}
	return text
}

// Read reads a part of a result. Its errors are faults with a sentence.
func Read(ctx context.Context, raw json.RawMessage, q ReadRequest) (Page, error) {
	if err := q.checkBounds(); err != nil {
		return Page{}, err
	}
	doc, isJSON, err := findPart(raw, q.Part)
	if err != nil {
		return Page{}, err
	}
	note := ""
	switch {
	case q.JQ != "":
		if doc, err = runFilter(ctx, doc, isJSON, q.JQ); err != nil {
			return Page{}, err
		}
	case q.Grep != "":
		if doc, note, err = searchLines(ctx, toLines(doc, isJSON), q); err != nil {
			return Page{}, err
		}
	case q.Line > 0:
		doc = toLines(doc, isJSON)
		q.Offset = lineOffset(doc, q.Line)
	}
	page, err := cutPage(doc, q.Offset, q.Limit)
	page.Note = note
	return page, err
}

func (q *ReadRequest) checkBounds() error {
	ways := 0
	for _, set := range []bool{q.JQ != "", q.Grep != "", q.Line != 0} {
		if set {
			ways++
		}
	}
	if q.Limit == 0 {
		q.Limit = DefaultPage
	}
	switch {
	case ways > 1:
		return fault.Errorf(fault.Invalid, "Use one of jq, grep and line.")
	case q.Offset < 0, q.Line < 0, q.Limit < minPageForRune, q.Limit > MaxPage:
		return fault.Errorf(fault.Invalid, "offset and line must not be negative, and limit must be %d–%d bytes.", minPageForRune, MaxPage)
	case q.Context < 0 || q.Context > maxContext:
		return fault.Errorf(fault.Invalid, "context must be 0–%d lines.", maxContext)
	}
	return nil
}

// findPart returns a part of a result.
func findPart(raw []byte, name string) (doc []byte, isJSON bool, err error) {
	r, ok := parseResult(raw)
	if name == "result" || !ok || name == "" && len(r.parts) == 0 {
		return raw, ok, nil
	}
	block := -1
	if name != "" && name != "structured" {
		if block, err = strconv.Atoi(name); err != nil || block < 0 {
			return nil, false, fault.Errorf(fault.Invalid, `part must be "result", "structured", or the number of a content block.`)
		}
	}
	var found *answerPart
	for i := range r.parts {
		p := &r.parts[i]
		if name != "" && p.block == block || name == "" && (found == nil || len(p.doc) > len(found.doc)) {
			found = p
		}
	}
	switch {
	case found != nil:
		return found.doc, found.isJSON, nil
	case block >= 0 && block < len(r.blocks):
		return r.blocks[block].value, true, nil // an image, for example
	}
	return nil, false, fault.Errorf(fault.NotFound, "The answer has no part %q.", name)
}

func runFilter(ctx context.Context, doc []byte, isJSON bool, text string) ([]byte, error) {
	if !isJSON {
		return nil, fault.Errorf(fault.Invalid, "This part isn't JSON. Use grep or offset.")
	}
	filter, err := httpcall.CompileFilter(text)
	if err != nil {
		return nil, err
	}
	return filter.Apply(ctx, doc)
}

// toLines breaks JSON into lines: it often has one.
func toLines(doc []byte, isJSON bool) []byte {
	if !isJSON {
		return doc
	}
	var b bytes.Buffer
	if json.Indent(&b, doc, "", "") != nil { // no indent: a deep document would grow with its depth
		return doc
	}
	return b.Bytes()
}

// lineOffset returns where a line begins.
func lineOffset(doc []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		n := bytes.IndexByte(doc[at:], '\n')
		if n < 0 {
			return len(doc)
		}
		at += n + 1
	}
	return at
}

// searchLines returns the lines that match, with their numbers and context.
func searchLines(ctx context.Context, doc []byte, q ReadRequest) (out []byte, note string, err error) {
	if len(q.Grep) > maxPattern {
		return nil, "", fault.Errorf(fault.Invalid, "The pattern is longer than %d bytes.", maxPattern)
	}
	pattern, err := regexp.Compile(q.Grep)
	if err != nil {
		return nil, "", fault.Wrap(fault.Invalid, err, "The pattern isn't a valid RE2 regular expression.")
	}
	lines := bytes.Split(doc, []byte("\n"))
	matches, printed := 0, -1
	for i, line := range lines {
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		if !pattern.Match(line) {
			continue
		}
		matches++
		first := max(i-q.Context, printed+1)
		if q.Context > 0 && printed >= 0 && first > printed+1 {
			out = append(out, "--\n"...)
		}
		for n := first; n <= min(i+q.Context, len(lines)-1); n++ {
			out = appendLine(out, n, n == i, lines[n])
			printed = n
		}
	}
	return out, fmt.Sprintf("%s of %s lines match.", formatCount(matches), formatCount(len(lines))), nil
}

// appendLine appends a numbered line: "12:" of a match, "12-" of its context, as grep does.
func appendLine(out []byte, n int, isMatch bool, line []byte) []byte {
	out = strconv.AppendInt(out, int64(n+1), 10)
	if isMatch {
		out = append(out, ':')
	} else {
		out = append(out, '-')
	}
	if len(line) > maxLine {
		return append(append(out, strings.ToValidUTF8(string(line[:maxLine]), "")...), "…\n"...)
	}
	return append(append(out, line...), '\n')
}

// cutPage returns whole characters from an offset on.
func cutPage(doc []byte, from, limit int) (Page, error) {
	if from > len(doc) {
		return Page{}, fault.Errorf(fault.Invalid, "The offset is beyond the end, at %d bytes.", len(doc))
	}
	from = runeStart(doc, from)
	to := runeStart(doc, min(from+limit, len(doc)))
	return Page{Text: string(doc[from:to]), From: from, To: to, Total: len(doc)}, nil
}

// runeStart returns the place of the character that a byte belongs to.
func runeStart(doc []byte, at int) int {
	for at > 0 && at < len(doc) && !utf8.RuneStart(doc[at]) {
		at--
	}
	return at
}
