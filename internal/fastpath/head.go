package fastpath

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	// mostHead is the longest head that is plain, in bytes.
	mostHead = 4 << 10
	// mostFields is how many fields a plain head has at most.
	mostFields = 32
	// mostBody is the longest body that is plain, in bytes: as much as is read to its end where nobody wants it.
	mostBody = 1 << 20
)

// mostUsual is for how many fields a head has room in itself.
const mostUsual = 12

// head is the head of a request.
type head struct {
	request http.Request
	url     url.URL
	usual   [mostUsual]string
	values  []string // of the fields, each name's first: in usual, where they are as few
	length  int64
	last    bool // the client ends the connection with this one
}

// parse reads a head that ends with its empty line; last are the lines of the connection's last one. It is false where the head is not plain:
//
//	POST /path HTTP/1.1        a path of letters, digits, and - . _ / alone, that takes says yes to
//	Host: …                    once, of letters, digits, and - . : [ ]
//	Content-Length: …          once, of digits, at most mostBody
//	Connection: …              not at all, or once: keep-alive, or close
//	Name: value                names of tokens' characters (RFC 9110 §5.6.2), values of visible ones, spaces, tabs and obs-text (§5.5)
//
// each line ends with CRLF, none begins with white space, and of Transfer-Encoding, Expect, Upgrade, Trailer, TE and Pragma there is none.
// The length stands in the request alone, as a number.
func (h *head) parse(b []byte, last *lines, takes func(path string) bool) bool {
	first := last.at(0, b)
	if first == nil || !takes(first.value) {
		return false
	}
	h.length, h.values = -1, h.usual[:0]
	h.url.Path = first.value
	r := &h.request
	r.Method, r.URL, r.RequestURI = http.MethodPost, &h.url, first.value
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.Header = make(http.Header, max(len(last.of)-3, 0)) // but for the first line, Host and Content-Length
	b = b[len(first.text):]
	i := 1
	for ; len(b) > len(crlf); i++ {
		l := last.at(i, b)
		if l == nil || i > mostFields || !h.field(l) {
			return false
		}
		if len(r.Header) < len(h.values) { // the name was there before
			r.Header[l.name], h.values = last.values(l.name, i+1), h.values[:len(r.Header)]
		}
		b = b[len(l.text):]
	}
	last.end(i)
	r.ContentLength, r.Close = h.length, h.last
	return h.length >= 0 && r.Host != ""
}

// field takes one line.
func (h *head) field(l *line) bool {
	if l.known {
		switch l.name {
		case "Host":
			ok := h.request.Host == "" && plainHost(l.value)
			h.request.Host = l.value
			return ok // net/http has it in the request alone
		case "Content-Length":
			return h.length < 0 && h.measure(l.value)
		case "Connection":
			if !h.connection(l.value) {
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

// measure reads the body's length.
func (h *head) measure(value string) bool {
	if len(value) == 0 || len(value) > 7 {
		return false
	}
	for _, c := range []byte(value) {
		if c < '0' || c > '9' {
			return false
		}
	}
	n, err := strconv.Atoi(value)
	h.length = int64(n)
	return err == nil && n <= mostBody
}

func (h *head) connection(value string) bool {
	if _, twice := h.request.Header["Connection"]; twice {
		return false
	}
	h.last = strings.EqualFold(value, "close")
	return h.last || strings.EqualFold(value, "keep-alive")
}

// plainLines reports whether b, a part of a head from the beginning of a line on, can be a part of a plain head, and returns the length of
// its whole lines. first says that b begins with the head's first line.
func plainLines(b []byte, first bool) (n int, ok bool) {
	for {
		end := bytes.Index(b[n:], crlf)
		if end < 0 {
			return n, plainStart(b[n:])
		}
		l := line{text: string(b[n : n+end+len(crlf)])}
		if isPlain := first && l.first() || !first && l.field(); !isPlain {
			return n, false
		}
		n, first = n+end+len(crlf), false
	}
}

// plainStart reports whether b, a line whose end has not come, has no byte that a plain line never has.
func plainStart(b []byte) bool {
	b = bytes.TrimSuffix(b, crlf[:1])
	for _, c := range b {
		if classes[c]&inValue == 0 {
			return false
		}
	}
	return true
}

// endOfHead is the length of the head that b begins with; 0: it is not all there.
func endOfHead(b []byte) int {
	if i := bytes.Index(b, []byte("\r\n\r\n")); i >= 0 {
		return i + len("\r\n\r\n")
	}
	return 0
}
