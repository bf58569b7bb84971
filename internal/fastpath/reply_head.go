package fastpath

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// head puts the reply's head before what is sent, once. first is the beginning of the body, which tells its type where nothing else does.
func (w *reply) head(first []byte) {
	if w.headed {
		return
	}
	w.headed = true
	if w.last || w.c.s.closing.Load() || closes(w.header["Connection"]) {
		w.close = true
	}
	w.line = w.appendHead(w.line[:0], first)
	w.copy(w.line)
}

// appendHead appends the status line and the fields.
func (w *reply) appendHead(b, first []byte) []byte {
	h := w.header
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(w.status), 10)
	b = append(append(append(b, ' '), reason(w.status)...), "\r\n"...)
	for name, values := range h {
		if name == "Connection" || name == "Transfer-Encoding" || name == "Date" || name == "Content-Length" && !w.measured() {
			continue
		}
		for _, value := range values {
			b = appendField(b, name, value)
		}
	}
	if _, typed := h["Content-Type"]; !typed && len(first) > 0 {
		b = appendField(b, "Content-Type", http.DetectContentType(first))
	}
	b = append(append(b, "Date: "...), date(time.Now())...)
	b = append(b, "\r\n"...)
	if w.chunked {
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	if w.close {
		b = append(b, "Connection: close\r\n"...)
	}
	return append(b, "\r\n"...)
}

// measured tells whether the length is said: never where there can be no body (RFC 9110 §8.6).
func (w *reply) measured() bool { return w.left >= 0 && bodyAllowed(w.status) }

func closes(values []string) bool {
	for _, v := range values {
		if strings.EqualFold(v, "close") {
			return true
		}
	}
	return false
}

func reason(status int) string {
	if text := http.StatusText(status); text != "" {
		return text
	}
	return "status code " + strconv.Itoa(status) // as net/http has it
}

// appendField leaves out what would be a field of its own: no name that is none, no end of a line in a value.
func appendField(b []byte, name, value string) []byte {
	if name == "" || !all(name, inName) {
		return b
	}
	b = append(append(b, name...), ": "...)
	from := len(b)
	b = append(b, strings.Trim(value, " \t\r\n")...)
	for i, c := range b[from:] {
		if c == '\r' || c == '\n' {
			b[from+i] = ' '
		}
	}
	return append(b, "\r\n"...)
}

// said is the date of one second, as a field has it.
type said struct {
	second int64
	text   string
}

var lastSaid atomic.Pointer[said]

// date is a time as a field has it (RFC 9110 §5.6.7).
func date(now time.Time) string {
	if last := lastSaid.Load(); last != nil && last.second == now.Unix() {
		return last.text
	}
	made := &said{now.Unix(), now.UTC().Format(http.TimeFormat)}
	lastSaid.Store(made)
	return made.text
}
