package h1

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// maxPlainHead is the longest head that is plain, in bytes.
const maxPlainHead = 4 << 10

// plain is a response whose head has one meaning alone, as nearly all have, with all that its caller gets of it in one piece of memory.
type plain struct {
	response http.Response
	body     body
	measured measured
	chunks   chunks
	encoding [1]string
	few      [6]string // the values of its fields, where there are no more
}

// readPlain reads a response up to its body, where its head has come whole, and is plain. Of any other, nothing was read (nil). last are the
// lines of the connection's last head.
func readPlain(in *bufio.Reader, r *http.Request, last *lines) *plain {
	if r.Method == http.MethodHead {
		return nil
	}
	came, _ := in.Peek(min(in.Buffered(), maxPlainHead))
	end := bytes.Index(came, endOfFields)
	if end < 0 {
		return nil
	}
	p := new(plain)
	if !p.parse(came[:end+len(crlf)], last) {
		return nil
	}
	_, _ = in.Discard(end + len(endOfFields))
	p.response.Request = r
	p.open(in)
	return p
}

// parse reads the lines of a head. It is false where the head is not plain:
//
//	HTTP/1.1 200 text          a status from 200 to 599 that has a body: not 204, not 304
//	Content-Length: …          of digits, or else
//	Transfer-Encoding: …       chunked
//	Connection: …              not at all, or keep-alive
//	Name: value                names of tokens' characters (RFC 9110 §5.6.2), values of visible ones, spaces, tabs and obs-text (§5.5)
//
// each line ends with CRLF, none begins with white space, no field comes twice, and of Trailer, Upgrade and Pragma there is none.
func (p *plain) parse(b []byte, last *lines) bool {
	first, ok := last.at(0, b)
	if !ok || !p.status(first.value) {
		return false
	}
	p.response.Header, p.response.ContentLength = make(http.Header, len(p.few)), -1
	values := p.few[:0]
	b = b[len(first.text):]
	i := 1
	for ; len(b) > 0; i++ {
		l, ok := last.at(i, b)
		if !ok || !p.field(l) {
			return false
		}
		b = b[len(l.text):]
		if l.name == "Transfer-Encoding" {
			continue // net/http does not have it among the fields
		}
		values = append(values, l.value)
		n := len(values)
		if p.response.Header[l.name] = values[n-1 : n : n]; len(p.response.Header) < n {
			return false
		}
	}
	last.end(i)
	return (p.response.ContentLength >= 0) != (p.response.TransferEncoding != nil)
}

func (p *plain) status(line string) bool {
	text, ok := strings.CutPrefix(line, "HTTP/1.1 ")
	if !ok || len(text) < 3 || len(text) > 3 && text[3] != ' ' || !httpguts.ValidHeaderFieldValue(text) {
		return false
	}
	code, err := strconv.Atoi(text[:3])
	p.response.Status, p.response.StatusCode = text, code
	p.response.Proto, p.response.ProtoMajor, p.response.ProtoMinor = "HTTP/1.1", 1, 1
	return err == nil && 200 <= code && code <= 599 && code != http.StatusNoContent && code != http.StatusNotModified
}

// field takes one line; false: there is no such one in a plain head.
func (p *plain) field(l line) bool {
	switch l.name {
	case "Content-Length":
		return p.measure(l.value)
	case "Transfer-Encoding":
		twice := p.response.TransferEncoding != nil
		p.encoding[0] = l.value
		p.response.TransferEncoding = p.encoding[:]
		return l.value == "chunked" && !twice
	case "Connection":
		return strings.EqualFold(l.value, "keep-alive")
	case "Trailer", "Upgrade", "Pragma":
		return false
	}
	return true
}

// measure reads the body's length.
func (p *plain) measure(value string) bool {
	const most = 15 // digits, which are no number that anything has trouble with
	if len(value) == 0 || len(value) > most {
		return false
	}
	for i := range len(value) {
		if value[i] < '0' || value[i] > '9' {
			return false
		}
	}
	n, err := strconv.ParseInt(value, 10, 64)
	p.response.ContentLength = n
	return err == nil
}

// open prepares the body for reading.
func (p *plain) open(in *bufio.Reader) {
	switch {
	case p.response.TransferEncoding != nil:
		p.chunks = chunks{httputil.NewChunkedReader(in), in, &p.response}
		p.body.src, p.body.chunked = &p.chunks, true
	case p.response.ContentLength == 0:
		p.response.Body = http.NoBody
	default:
		p.measured = measured{in, p.response.ContentLength}
		p.body.src = &p.measured
	}
}
