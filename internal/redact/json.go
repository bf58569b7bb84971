package redact

import (
	"bytes"
)

// redacted replaces a secret.
const redacted = "[redacted]"

// JSON removes what looks like a secret from a JSON document: values of members with secret names, list items
// after secret flags, and in texts named values, bearer tokens, JWTs, private keys and long random strings. It
// cannot find all, which is why a tenant may keep nothing. The result may share doc's memory; doc is not
// changed.
func JSON(doc []byte) []byte {
	r := redactor{doc: doc}
	r.redactJSON()
	return r.joinResult()
}

// redactJSON redacts the strings and values of the document.
func (r *redactor) redactJSON() {
	doc := r.doc
	isPair := false // the next text may be the name of a name/value pair
	for at := 0; at < len(doc); {
		i := bytes.IndexByte(doc[at:], '"')
		if i < 0 {
			break
		}
		from := at + i + 1
		to := from + findStringEnd(doc[from:])
		next := skipSpace(doc, to+1)
		if next >= len(doc) || doc[next] != ':' {
			r.redactText(from, to)
			at = to + 1
			switch {
			case isSecretFlag(doc[from:to]):
				at = r.redactArgument(at)
			case isPair && isSecretName(doc[from:to]):
				at = r.redactPairValue(at)
			}
			isPair = false
			continue
		}
		at = next + 1
		isPair = isPairName(doc[from:to])
		if isSecretName(doc[from:to]) {
			at = r.redactValue(skipSpace(doc, at))
		}
	}
}

// Text removes what looks like a secret from a text.
func Text(text string) string {
	r := redactor{doc: []byte(text)}
	r.redactText(0, len(r.doc))
	if r.copied == 0 {
		return text
	}
	return string(r.joinResult())
}

// redactor builds a redacted copy of a document, or lists the parts to redact.
type redactor struct {
	doc    []byte
	out    []byte
	copied int         // end of the part of doc that is in out
	spans  *[]byteSpan // receives the parts to redact instead of out; nil: the copy is built
}

// replaceRange replaces a part of the document by mark. Parts come in order; a part that overlaps the previous one
// is shortened.
func (r *redactor) replaceRange(from, to int, mark string) {
	from = max(from, r.copied)
	if to <= from {
		return
	}
	if r.spans != nil {
		*r.spans = append(*r.spans, byteSpan{from, to})
		r.copied = to
		return
	}
	if r.out == nil {
		r.out = make([]byte, 0, len(r.doc)+64)
	}
	r.out = append(append(r.out, r.doc[r.copied:from]...), mark...)
	r.copied = to
}

func (r *redactor) joinResult() []byte {
	if r.copied == 0 {
		return r.doc
	}
	return append(r.out, r.doc[r.copied:]...)
}

// redactValue replaces the JSON value at an offset and returns its end. Literals and empty strings stay.
func (r *redactor) redactValue(at int) (end int) {
	doc := r.doc
	if at >= len(doc) {
		return at
	}
	switch c := doc[at]; {
	case c == '"':
		end = at + 1 + findStringEnd(doc[at+1:])
		r.replaceRange(at+1, end, redacted)
		return end + 1
	case c == '{', c == '[':
		end = findNestedEnd(doc, at)
		r.replaceRange(at, end, `"`+redacted+`"`)
		return end
	case c == '-', '0' <= c && c <= '9':
		for end = at; end < len(doc) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(doc[end])); end++ { //nolint:revive // it only counts
		}
		r.replaceRange(at, end, `"`+redacted+`"`)
		return end
	default:
		return at
	}
}

// isPairName reports whether the member holds the name of a name/value pair, as in lists of headers and
// variables.
func isPairName(member []byte) bool {
	return string(member) == "name" || string(member) == "key" || string(member) == "header"
}

// redactPairValue replaces the member "value" if it comes next, and returns where to continue.
func (r *redactor) redactPairValue(at int) (next int) {
	const name = `"value"`
	from := skipSpace(r.doc, at)
	if from >= len(r.doc) || r.doc[from] != ',' {
		return at
	}
	from = skipSpace(r.doc, from+1)
	if !bytes.HasPrefix(r.doc[from:], []byte(name)) {
		return at
	}
	from = skipSpace(r.doc, from+len(name))
	if from >= len(r.doc) || r.doc[from] != ':' {
		return at
	}
	return r.redactValue(skipSpace(r.doc, from+1))
}

// redactArgument replaces the list item after a flag, as in ["--password","x"], and returns where to continue.
// Other flags and member names stay.
func (r *redactor) redactArgument(at int) (next int) {
	doc := r.doc
	from := skipSpace(doc, at)
	if from >= len(doc) || doc[from] != ',' {
		return at
	}
	from = skipSpace(doc, from+1)
	if from >= len(doc) || doc[from] != '"' {
		return from
	}
	to := from + 1 + findStringEnd(doc[from+1:])
	after := skipSpace(doc, to+1)
	if after < len(doc) && doc[after] == ':' || bytes.HasPrefix(doc[from+1:to], []byte("--")) {
		return from
	}
	return r.redactValue(from)
}

// findStringEnd returns the offset of the closing quote of a JSON string.
func findStringEnd(s []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(s[at:], '"')
		if i < 0 {
			return len(s)
		}
		at += i
		escapes := 0
		for escapes < at && s[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
		at++
	}
}

// findNestedEnd returns the end of the object or array at an offset.
func findNestedEnd(doc []byte, at int) int {
	for depth := 0; at < len(doc); at++ {
		switch doc[at] {
		case '"':
			at += 1 + findStringEnd(doc[at+1:])
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
	return len(doc)
}

func skipSpace(doc []byte, at int) int {
	for at < len(doc) && (doc[at] == ' ' || doc[at] == '\n' || doc[at] == '\t' || doc[at] == '\r') {
		at++
	}
	return at
}
