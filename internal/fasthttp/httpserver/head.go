package httpserver

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	// maxHeadBytes bounds a plain head.
	maxHeadBytes = 4 << 10
	// maxFields bounds the fields of a plain head.
	maxFields = 32
	// maxBodyBytes bounds the body of a plain request.
	maxBodyBytes = 1 << 20
)

// inlineFields is for how many fields requestHead needs no further allocation.
const inlineFields = 12

// requestHead is the head of a request.
type requestHead struct {
	request       http.Request
	url           url.URL
	inlineValues  [inlineFields]string
	values        []string // the first value of each field; in inlineValues, unless there are more
	contentLength int64
	wantsClose    bool // the client asked for Connection: close
}

// parse parses a head that ends with its empty line. last has the lines of the connection's previous head.
// parse returns false unless the head is plain:
//
//	POST /path HTTP/1.1    a path of letters, digits, and - . _ / only, accepted by takes
//	Host: …                once, of letters, digits, and - . : [ ]
//	Content-Length: …      once, of digits, at most maxBodyBytes
//	Connection: …          absent, or once: keep-alive, or close
//	Name: value            token names (RFC 9110 section 5.6.2), values of visible characters, spaces, tabs and
//	                       obs-text (section 5.5)
//
// Each line ends with CRLF, and none begins with white space. Transfer-Encoding, Expect, Upgrade, Trailer, TE
// and Pragma must be absent. Content-Length is set as a number only, not in the header.
func (h *requestHead) parse(b []byte, last *lineCache, takes func(path string) bool) bool {
	first := last.lineAt(0, b)
	if first == nil || !takes(first.value) {
		return false
	}
	h.contentLength, h.values = -1, h.inlineValues[:0]
	h.url.Path = first.value
	r := &h.request
	r.Method, r.URL, r.RequestURI = http.MethodPost, &h.url, first.value
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.Header = make(http.Header, max(len(last.entries)-3, 0)) // without the request line, Host and Content-Length
	b = b[len(first.text):]
	i := 1
	for ; len(b) > len(crlf); i++ {
		l := last.lineAt(i, b)
		if l == nil || i > maxFields || !h.addField(l) {
			return false
		}
		if len(r.Header) < len(h.values) { // a repeated name
			r.Header[l.name], h.values = last.findValues(l.name, i+1), h.values[:len(r.Header)]
		}
		b = b[len(l.text):]
	}
	last.truncate(i)
	r.ContentLength, r.Close = h.contentLength, h.wantsClose
	return h.contentLength >= 0 && r.Host != ""
}

// addField adds one field. It returns false if the field makes the head not plain.
func (h *requestHead) addField(l *headLine) bool {
	if l.isKnown {
		switch l.name {
		case "Host":
			ok := h.request.Host == "" && isPlainHost(l.value)
			h.request.Host = l.value
			return ok // net/http has it in Request.Host only
		case "Content-Length":
			return h.contentLength < 0 && h.parseContentLength(l.value)
		case "Connection":
			if !h.parseConnection(l.value) {
				return false
			}
		case "Transfer-Encoding", "Expect", "Upgrade", "Trailer", "Te", "Pragma":
			return false
		}
	}
	h.values = append(h.values, l.value)
	h.request.Header[l.name] = h.values[len(h.values)-1 : len(h.values) : len(h.values)]
	return true
}

// parseContentLength parses the body's length.
func (h *requestHead) parseContentLength(value string) bool {
	if len(value) == 0 || len(value) > 7 {
		return false
	}
	for _, c := range []byte(value) {
		if c < '0' || c > '9' {
			return false
		}
	}
	n, err := strconv.Atoi(value)
	h.contentLength = int64(n)
	return err == nil && n <= maxBodyBytes
}

func (h *requestHead) parseConnection(value string) bool {
	if _, twice := h.request.Header["Connection"]; twice {
		return false
	}
	h.wantsClose = strings.EqualFold(value, "close")
	return h.wantsClose || strings.EqualFold(value, "keep-alive")
}

// scanPlainLines reports whether b can be part of a plain head, and returns the length of its complete lines. b
// begins at a line, which is the request line if first.
func scanPlainLines(b []byte, first bool) (n int, ok bool) {
	for {
		end := bytes.Index(b[n:], crlf)
		if end < 0 {
			return n, isPlainStart(b[n:])
		}
		l := headLine{text: string(b[n : n+end+len(crlf)])}
		if isPlain := first && l.parseRequestLine() || !first && l.parseField(); !isPlain {
			return n, false
		}
		n, first = n+end+len(crlf), false
	}
}

// isPlainStart reports whether b, an incomplete line, has valid bytes only.
func isPlainStart(b []byte) bool {
	b = bytes.TrimSuffix(b, crlf[:1])
	for _, c := range b {
		if charClasses[c]&inValue == 0 {
			return false
		}
	}
	return true
}

// findHeadLength returns the length of the head at the start of b, or 0 if it is incomplete.
func findHeadLength(b []byte) int {
	if i := bytes.Index(b, []byte("\r\n\r\n")); i >= 0 {
		return i + len("\r\n\r\n")
	}
	return 0
}
