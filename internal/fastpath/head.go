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
	values  []string // of the fields: in usual, where they are as few
	length  int64
	last    bool // the client ends the connection with this one
}

// parse reads a head that ends with its empty line. It is false where the head is not plain:
//
//	POST /path HTTP/1.1        a path of letters, digits, and - . _ / alone, that takes says yes to
//	Host: …                    once, of letters, digits, and - . : [ ]
//	Content-Length: …          once, of digits, at most mostBody
//	Connection: …              not at all, or once: keep-alive, or close
//	Name: value                names of tokens' characters (RFC 9110 §5.6.2), values of visible ones, spaces, tabs and obs-text (§5.5)
//
// each line ends with CRLF, none begins with white space, and of Transfer-Encoding, Expect, Upgrade, Trailer, TE and Pragma there is none.
func (h *head) parse(text string, takes func(path string) bool) bool {
	line, rest, ok := strings.Cut(text, "\r\n")
	if !ok {
		return false
	}
	path, ok := strings.CutPrefix(line, "POST ")
	if !ok {
		return false
	}
	if path, ok = strings.CutSuffix(path, " HTTP/1.1"); !ok || !plainPath(path) || !takes(path) {
		return false
	}
	fields := strings.Count(rest, "\r\n") - 1
	if fields < 1 || fields > mostFields {
		return false
	}
	if h.values = h.usual[:0]; fields > mostUsual {
		h.values = make([]string, 0, fields)
	}
	h.length, h.url.Path = -1, path
	r := &h.request
	r.Method, r.URL, r.RequestURI = http.MethodPost, &h.url, path
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.Header = make(http.Header, fields-1) // but for Host
	for rest != "\r\n" {
		if line, rest, ok = strings.Cut(rest, "\r\n"); !ok || !h.field(line) {
			return false
		}
	}
	h.request.ContentLength, h.request.Close = h.length, h.last
	return h.length >= 0 && h.request.Host != ""
}

// field takes one line.
func (h *head) field(line string) bool {
	colon := strings.IndexByte(line, ':')
	if colon <= 0 {
		return false
	}
	name, known := canonical(line[:colon])
	value := strings.Trim(line[colon+1:], " \t")
	if name == "" || !plainValue(value) {
		return false
	}
	if known {
		switch name {
		case "Host":
			ok := h.request.Host == "" && plainHost(value)
			h.request.Host = value
			return ok // net/http has it in the request alone
		case "Content-Length":
			if h.length >= 0 || !h.measure(value) {
				return false
			}
		case "Connection":
			if !h.connection(value) {
				return false
			}
		case "Transfer-Encoding", "Expect", "Upgrade", "Trailer", "Te", "Pragma":
			return false
		}
	}
	if before, ok := h.request.Header[name]; ok {
		h.request.Header[name] = append(before, value)
		return true
	}
	h.values = append(h.values, value)
	h.request.Header[name] = h.values[len(h.values)-1 : len(h.values) : len(h.values)]
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

// endOfHead is the length of the head that b begins with; 0: it is not all there.
func endOfHead(b []byte) int {
	if i := bytes.Index(b, []byte("\r\n\r\n")); i >= 0 {
		return i + len("\r\n\r\n")
	}
	return 0
}
