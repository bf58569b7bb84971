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
	maxContext     = 50        // lines before and after a match
	maxGrepWork    = 256 << 20 // bytes of the text times instructions of the pattern
	grepPiece      = 64 << 10  // bytes of a line between looks at the context
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
	switch {
	case q.JQ != "":
		if doc, err = runFilter(ctx, doc, isJSON, q.JQ); err != nil {
			return Page{}, err
		}
	case q.Grep != "":
		return searchLines(ctx, toLines(doc, isJSON), q)
	case q.Line > 0:
		doc = toLines(doc, isJSON)
		q.Offset = lineOffset(doc, q.Line)
	}
	w := newWindow(q)
	w.addText(doc)
	return w.cutPage()
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
	ok = ok && r.more == 0 // not all parts are known
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

// searchLines reads a page of the lines that match, with their numbers and context.
func searchLines(ctx context.Context, doc []byte, q ReadRequest) (Page, error) {
	pattern, instructions, err := httpcall.CompilePattern(q.Grep)
	if err != nil {
		return Page{}, err
	}
	if len(doc) > maxGrepWork/instructions {
		return Page{}, fault.Errorf(fault.Invalid, "The pattern is too expensive for this answer. Use a simpler one, or jq or offset.")
	}
	w, lines, matches, printed := newWindow(q), 0, 0, 0 // printed: lines up to the last one that was printed
	var before [][]byte                                 // the lines above, for the context
	last, line := -1, []byte(nil)                       // the last match
	for rest, more := doc, true; more; lines++ {
		var text []byte
		text, rest, more = bytes.Cut(rest, []byte("\n"))
		isMatch, err := matchLine(ctx, pattern, text)
		if err != nil {
			return Page{}, err
		}
		if isMatch {
			matches++
			first := max(lines-len(before), printed)
			if q.Context > 0 && printed > 0 && first > printed {
				w.addText([]byte("--\n"))
			}
			for n := first; n < lines; n++ {
				line = appendLine(line[:0], n, false, before[n-lines+len(before)])
				w.addText(line)
			}
			last = lines
		}
		if isMatch || last >= 0 && lines-last <= q.Context {
			line = appendLine(line[:0], lines, isMatch, text)
			w.addText(line)
			printed = lines + 1
		}
		if q.Context > 0 {
			before = append(before[max(len(before)-q.Context+1, 0):], text)
		}
	}
	page, err := w.cutPage()
	page.Note = fmt.Sprintf("%s of %s lines match.", formatCount(matches), formatCount(lines))
	return page, err
}

// matchLine searches a line in pieces, and ends with ctx.
func matchLine(ctx context.Context, pattern *regexp.Regexp, line []byte) (bool, error) {
	if len(line) <= grepPiece {
		return pattern.Match(line), ctx.Err()
	}
	found := pattern.MatchReader(&pieceReader{Reader: bytes.NewReader(line), next: len(line), check: ctx.Err})
	return found, ctx.Err()
}

// pieceReader reads a text to its end, or until a check before a piece fails.
type pieceReader struct {
	*bytes.Reader
	next  int // bytes that are left at the next check
	check func() error
}

// ReadRune implements [io.RuneReader].
func (r *pieceReader) ReadRune() (rune, int, error) {
	if r.Len() <= r.next {
		r.next -= grepPiece
		if err := r.check(); err != nil {
			return 0, 0, err
		}
	}
	return r.Reader.ReadRune()
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

// window keeps the bytes of a text that a page needs, and counts the others.
type window struct {
	from, limit int // of the page
	start       int // of what is kept
	total       int
	kept        []byte
}

func newWindow(q ReadRequest) *window {
	return &window{from: q.Offset, limit: q.Limit, start: max(q.Offset-utf8.UTFMax, 0)}
}

func (w *window) addText(text []byte) {
	first := min(max(w.start-w.total, 0), len(text))
	end := min(max(w.from+w.limit+1-w.total, first), len(text))
	w.kept = append(w.kept, text[first:end]...)
	w.total += len(text)
}

// cutPage returns whole characters from the offset on.
func (w *window) cutPage() (Page, error) {
	if w.from > w.total {
		return Page{}, fault.Errorf(fault.Invalid, "The offset is beyond the end, at %d bytes.", w.total)
	}
	from := runeStart(w.kept, w.from-w.start)
	to := runeStart(w.kept, min(w.from-w.start+w.limit, len(w.kept)))
	return Page{Text: string(w.kept[from:to]), From: w.start + from, To: w.start + to, Total: w.total}, nil
}

// runeStart returns the place of the character that a byte belongs to.
func runeStart(doc []byte, at int) int {
	for at > 0 && at < len(doc) && !utf8.RuneStart(doc[at]) {
		at--
	}
	return at
}
