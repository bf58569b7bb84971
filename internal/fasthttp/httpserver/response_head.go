package httpserver

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// writeHead queues the response's head once. first is the beginning of the body, for the detection of its type.
func (w *responseWriter) writeHead(first []byte) {
	if w.wroteHead {
		return
	}
	w.wroteHead = true
	if w.clientCloses || w.c.server.closing.Load() || hasCloseToken(w.header["Connection"]) {
		w.closesConn = true
	}
	w.head = w.appendHead(w.head[:0], first)
	w.queueCopy(w.head)
}

// appendHead appends the status line and the fields.
func (w *responseWriter) appendHead(b, first []byte) []byte {
	h := w.header
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(w.status), 10)
	b = append(append(append(b, ' '), reasonPhrase(w.status)...), "\r\n"...)
	for name, values := range h {
		if name == "Connection" || name == "Transfer-Encoding" || name == "Date" || name == "Content-Length" && !w.hasContentLength() {
			continue
		}
		for _, value := range values {
			b = appendField(b, name, value)
		}
	}
	if _, typed := h["Content-Type"]; !typed && len(first) > 0 {
		b = appendField(b, "Content-Type", http.DetectContentType(first))
	}
	b = append(append(b, "Date: "...), formatDate(time.Now())...)
	b = append(b, "\r\n"...)
	if w.chunked {
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	if w.closesConn {
		b = append(b, "Connection: close\r\n"...)
	}
	return append(b, "\r\n"...)
}

// hasContentLength reports whether Content-Length is sent: never where no body is allowed (RFC 9110 section
// 8.6).
func (w *responseWriter) hasContentLength() bool { return w.remaining >= 0 && bodyAllowed(w.status) }

func hasCloseToken(values []string) bool {
	for _, v := range values {
		if strings.EqualFold(v, "close") {
			return true
		}
	}
	return false
}

func reasonPhrase(status int) string {
	if text := http.StatusText(status); text != "" {
		return text
	}
	return "status code " + strconv.Itoa(status) // as net/http writes it
}

// appendField appends one field. It drops a field with an invalid name and replaces line ends in the value, so
// that neither can inject another field.
func appendField(b []byte, name, value string) []byte {
	if name == "" || !allInClass(name, inName) {
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

// cachedDate is the Date field of one second.
type cachedDate struct {
	second int64
	text   string
}

var lastDate atomic.Pointer[cachedDate]

// formatDate formats a time for the Date field (RFC 9110 section 5.6.7).
func formatDate(now time.Time) string {
	if cached := lastDate.Load(); cached != nil && cached.second == now.Unix() {
		return cached.text
	}
	newDate := &cachedDate{now.Unix(), now.UTC().Format(http.TimeFormat)}
	lastDate.Store(newDate)
	return newDate.text
}
