package toolchange

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// shortJSON returns a value as shortened JSON. It returns "" if the difference is not listed anyway.
func (r *changeBuilder) shortJSON(v any, ok bool) string {
	if !ok || r.isFull() {
		return ""
	}
	w := jsonWriter{work: r.work, limit: maxShownBytes}
	w.writeValue(v)
	return truncateText(w.text.String())
}

// keywordJSON returns a keyword with its value as shortened JSON.
func (r *changeBuilder) keywordJSON(keyword string, v any, ok bool) string {
	return r.shortJSON(map[string]any{keyword: v}, ok)
}

// jsonWriter writes the start of a value as JSON: little more than limit bytes.
type jsonWriter struct {
	work  *work
	limit int
	text  bytes.Buffer
}

// isDone reports whether what follows is not shown.
func (w *jsonWriter) isDone() bool { return w.text.Len() > w.limit || !w.work.spendUnits(valueWork) }

func (w *jsonWriter) writeValue(v any) {
	switch v := v.(type) {
	case nil:
		w.text.WriteString("null")
	case bool:
		w.text.WriteString(strconv.FormatBool(v))
	case json.Number:
		w.text.WriteString(cutText(v.String(), w.limit+1))
	case string:
		w.writeString(v)
	case []any:
		w.writeArray(v)
	case map[string]any:
		w.writeObject(v)
	}
}

// writeString writes a string. A cut one is longer than limit, so that its closing quote is not shown.
func (w *jsonWriter) writeString(s string) {
	enc := json.NewEncoder(&w.text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(cutText(s, w.limit+utf8.UTFMax)) // a string always encodes
	w.text.Truncate(w.text.Len() - 1)               // the line feed
}

func (w *jsonWriter) writeArray(list []any) {
	w.text.WriteByte('[')
	for i, item := range list {
		if w.isDone() {
			return
		}
		if i > 0 {
			w.text.WriteByte(',')
		}
		w.writeValue(item)
	}
	w.text.WriteByte(']')
}

func (w *jsonWriter) writeObject(object map[string]any) {
	w.text.WriteByte('{')
	for i, name := range w.work.memberNames(object, nil) {
		if w.isDone() {
			return
		}
		if i > 0 {
			w.text.WriteByte(',')
		}
		w.writeString(name)
		w.text.WriteByte(':')
		w.writeValue(object[name])
	}
	w.text.WriteByte('}')
}

// maxShownBytes bounds a value in a difference.
const maxShownBytes = 300

func truncateText(s string) string {
	if len(s) <= maxShownBytes {
		return s
	}
	return cutText(s, maxShownBytes) + "…"
}

// cutText returns at most the first size bytes of a text, in whole characters.
func cutText(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}
