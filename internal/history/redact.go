package history

import (
	"bytes"
)

// redacted stands where something was taken out.
const redacted = "[redacted]"

// Redact is a JSON document without what looks like a secret: the values of members whose name says so, what follows a flag that says so
// in a list, and within texts what follows such a name, bearer tokens, JWTs, private keys, and long strings that look random. It is a net with holes, which is why a tenant may
// keep nothing at all. What it returns may share doc's memory; doc stays as it is.
func Redact(doc []byte) []byte {
	r := redaction{doc: doc}
	pair := false // the next text may be the name of a value beside it
	for at := 0; at < len(doc); {
		i := bytes.IndexByte(doc[at:], '"')
		if i < 0 {
			break
		}
		from := at + i + 1
		to := from + stringEnd(doc[from:])
		next := skipSpace(doc, to+1)
		if next >= len(doc) || doc[next] != ':' {
			r.text(from, to)
			at = to + 1
			switch {
			case secretFlag(doc[from:to]):
				at = r.argument(at)
			case pair && secretName(doc[from:to]):
				at = r.partner(at)
			}
			pair = false
			continue
		}
		at = next + 1
		pair = namesOther(doc[from:to])
		if secretName(doc[from:to]) {
			at = r.value(skipSpace(doc, at))
		}
	}
	return r.result()
}

// redactText is a text without what looks like a secret.
func redactText(text string) string {
	r := redaction{doc: []byte(text)}
	r.text(0, len(r.doc))
	if r.done == 0 {
		return text
	}
	return string(r.result())
}

// redaction collects what is taken out of a document.
type redaction struct {
	doc  []byte
	out  []byte
	done int // doc is copied to here
}

// cut puts the mark in the place of a part of the document. Parts come in order; one that begins in the part before is shortened.
func (r *redaction) cut(from, to int, mark string) {
	from = max(from, r.done)
	if to <= from {
		return
	}
	if r.out == nil {
		r.out = make([]byte, 0, len(r.doc)+64)
	}
	r.out = append(append(r.out, r.doc[r.done:from]...), mark...)
	r.done = to
}

func (r *redaction) result() []byte {
	if r.done == 0 {
		return r.doc
	}
	return append(r.out, r.doc[r.done:]...)
}

// value takes out the whole value that begins at, and returns where it ends. What holds no secret (true, false, null, an empty
// string) stays.
func (r *redaction) value(at int) (end int) {
	doc := r.doc
	if at >= len(doc) {
		return at
	}
	switch c := doc[at]; {
	case c == '"':
		end = at + 1 + stringEnd(doc[at+1:])
		r.cut(at+1, end, redacted)
		return end + 1
	case c == '{', c == '[':
		end = nestedEnd(doc, at)
		r.cut(at, end, `"`+redacted+`"`)
		return end
	case c == '-', '0' <= c && c <= '9':
		for end = at; end < len(doc) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(doc[end])); end++ { //nolint:revive // it only counts
		}
		r.cut(at, end, `"`+redacted+`"`)
		return end
	default:
		return at
	}
}

// namesOther tells whether a member is one whose text names what the member "value" holds, as in lists of headers and of variables.
func namesOther(member []byte) bool {
	return string(member) == "name" || string(member) == "key" || string(member) == "header"
}

// partner takes out the value of the member "value", if that comes next, and returns where to go on.
func (r *redaction) partner(at int) (next int) {
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
	return r.value(skipSpace(r.doc, from+1))
}

// argument takes out the text that follows a flag in a list, as in ["--password","x"], and returns where to go on. Another flag is no
// value, and neither is the name of a member.
func (r *redaction) argument(at int) (next int) {
	doc := r.doc
	from := skipSpace(doc, at)
	if from >= len(doc) || doc[from] != ',' {
		return at
	}
	from = skipSpace(doc, from+1)
	if from >= len(doc) || doc[from] != '"' {
		return from
	}
	to := from + 1 + stringEnd(doc[from+1:])
	after := skipSpace(doc, to+1)
	if after < len(doc) && doc[after] == ':' || bytes.HasPrefix(doc[from+1:to], []byte("--")) {
		return from
	}
	return r.value(from)
}

// stringEnd is where a JSON string's closing quote stands, after its opening one.
func stringEnd(s []byte) int {
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

// nestedEnd is the end of the object or list that begins at.
func nestedEnd(doc []byte, at int) int {
	for depth := 0; at < len(doc); at++ {
		switch doc[at] {
		case '"':
			at += 1 + stringEnd(doc[at+1:])
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
