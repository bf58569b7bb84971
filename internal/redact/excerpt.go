package redact

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"patchbay/internal/connectors"
)

// MaxExcerpt bounds an excerpt, in bytes.
const MaxExcerpt = 2 << 10

// Source is a text of a remote server or program.
type Source struct {
	Text     string
	CutStart bool // the beginning is missing
	CutEnd   bool // the end is missing
	KeepEnd  bool // of a long text the excerpt is the end
}

// cutMargin is dropped at a cut, in bytes: it may hold up to three bytes of a secret, of up to 12 bytes each when encoded.
const cutMargin = 48

// Excerpt returns a part of a text that an admin may read, of at most MaxExcerpt bytes of valid UTF-8. It removes the
// known secrets in every usual encoding, and what looks like a secret. Control characters, and others that cannot be
// seen, become escapes such as \u202e. The whole text is redacted before it is shortened. Where the text was cut,
// what may be a part of a secret is dropped.
func Excerpt(source Source, known ...*Secrets) string {
	text := source.trimEscapes()
	from, to := 0, len(text)
	var found []byteSpan
	for _, v := range decodeViews(text) {
		for _, secrets := range known {
			if secrets == nil {
				continue
			}
			found = secrets.findIn(found, v)
			if source.CutEnd {
				if at := secrets.findCutEnd(v); at >= 0 {
					to = min(to, at)
				}
			}
			if source.CutStart {
				from = max(from, secrets.findCutStart(v))
			}
		}
	}
	r := redactor{doc: text, spans: &found}
	r.redactJSON()
	r.copied = 0
	r.redactText(0, len(text))
	found = findKeyValues(found, text)
	if source.CutEnd {
		to = min(to, trimCutEnd(text))
	}
	if source.CutStart {
		from = max(from, trimCutStart(text))
	}
	return shortenText(makePrintable(joinParts(text, found, from, to)), source.KeepEnd)
}

// maxEscape is the length of the longest escape of one byte, in bytes.
const maxEscape = 12

// trimEscapes returns the text without a part of an escape at its cuts, which no decoder would read.
func (s Source) trimEscapes() []byte {
	const escapes = `\%&`
	text := []byte(s.Text)
	if s.CutEnd {
		tail := max(0, len(text)-maxEscape)
		if at := bytes.IndexAny(text[tail:], escapes); at >= 0 {
			text = bytes.TrimRight(text[:tail+at], `\`)
		}
	}
	if s.CutStart {
		if at := bytes.IndexAny(text[:min(len(text), maxEscape)], escapes); at >= 0 {
			text = text[at:]
		}
	}
	return text
}

// trimCutEnd returns the length of a cut text without the margin and the word before it.
func trimCutEnd(text []byte) int {
	end := max(0, len(text)-cutMargin)
	for end > 0 && isTokenByte[text[end-1]] {
		end--
	}
	return end
}

// trimCutStart returns where a cut text begins after the margin and the word in it.
func trimCutStart(text []byte) int {
	start := min(len(text), cutMargin)
	for start < len(text) && isTokenByte[text[start]] {
		start++
	}
	return start
}

// joinParts returns the text between two offsets, with a mark in place of each span.
func joinParts(text []byte, spans []byteSpan, from, to int) string {
	slices.SortFunc(spans, func(a, b byteSpan) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	at := from
	for _, span := range spans {
		if span.to <= at || span.from >= to {
			continue
		}
		if span.from > at || at == from {
			out.Write(text[at:max(at, span.from)])
			out.WriteString(redacted)
		}
		at = span.to
	}
	if at < to {
		out.Write(text[at:to])
	}
	return out.String()
}

// makePrintable replaces invalid UTF-8, and writes characters that cannot be seen as escapes. Tabs and line feeds stay.
func makePrintable(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	return strings.TrimSpace(connectors.Visible(text, isUnseen))
}

// isUnseen reports whether a character cannot be seen, or changes the direction of text.
func isUnseen(c rune) bool {
	const zeroWidthJoiner = 0x200d
	return connectors.Hidden(c) || c == zeroWidthJoiner || unicode.In(c, unicode.Zl, unicode.Zp) || unicode.IsControl(c) && c != '\n' && c != '\t'
}

// shortenText cuts a text to MaxExcerpt bytes, with an ellipsis in place of the rest.
func shortenText(text string, keepEnd bool) string {
	const ellipsis = "…"
	if len(text) <= MaxExcerpt {
		return text
	}
	if keepEnd {
		from := len(text) - MaxExcerpt + len(ellipsis)
		for !utf8.RuneStart(text[from]) {
			from++
		}
		return ellipsis + text[from:]
	}
	to := MaxExcerpt - len(ellipsis)
	for !utf8.RuneStart(text[to]) {
		to--
	}
	return text[:to] + ellipsis
}
