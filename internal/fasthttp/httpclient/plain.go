package httpclient

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// maxPlainHead bounds a plain head, in bytes.
const maxPlainHead = 4 << 10

// plainResponse is a response with a plain head, in one allocation.
type plainResponse struct {
	response     http.Response
	body         responseBody
	fixedLength  fixedLengthBody
	chunked      chunkedBody
	encoding     [1]string
	inlineValues [6]string // the field values, unless there are more
}

// readPlain reads a response up to its body if its head is buffered whole and plain. Otherwise it reads nothing
// and returns nil. last has the lines of the connection's previous head.
func readPlain(in *bufio.Reader, r *http.Request, last *lineCache) *plainResponse {
	if r.Method == http.MethodHead {
		return nil
	}
	buffered, _ := in.Peek(min(in.Buffered(), maxPlainHead))
	end := bytes.Index(buffered, endOfFields)
	if end < 0 {
		return nil
	}
	p := new(plainResponse)
	if !p.parse(buffered[:end+len(crlf)], last) {
		return nil
	}
	_, _ = in.Discard(end + len(endOfFields))
	p.response.Request = r
	p.setBody(in)
	return p
}

// parse parses the lines of a head. It returns false unless the head is plain:
//
//	HTTP/1.1 200 text          a status from 200 to 599 that has a body: not 204, not 304
//	Content-Length: …          of digits, or else
//	Transfer-Encoding: …       chunked
//	Connection: …              absent, or keep-alive
//	Name: value                token names (RFC 9110 section 5.6.2), values of visible characters, spaces, tabs and obs-text (section 5.5)
//
// Each line ends with CRLF, none begins with white space, and no field is repeated. Trailer, Upgrade and Pragma
// must be absent.
func (p *plainResponse) parse(b []byte, last *lineCache) bool {
	first, ok := last.lineAt(0, b)
	if !ok || !p.parseStatusLine(first.value) {
		return false
	}
	p.response.Header, p.response.ContentLength = make(http.Header, len(p.inlineValues)), -1
	values := p.inlineValues[:0]
	b = b[len(first.text):]
	i := 1
	for ; len(b) > 0; i++ {
		l, ok := last.lineAt(i, b)
		if !ok || !p.checkField(l) {
			return false
		}
		b = b[len(l.text):]
		if l.name == "Transfer-Encoding" {
			continue // net/http does not keep it in the header
		}
		values = append(values, l.value)
		n := len(values)
		if p.response.Header[l.name] = values[n-1 : n : n]; len(p.response.Header) < n {
			return false
		}
	}
	last.truncate(i)
	return (p.response.ContentLength >= 0) != (p.response.TransferEncoding != nil)
}

func (p *plainResponse) parseStatusLine(line string) bool {
	text, ok := strings.CutPrefix(line, "HTTP/1.1 ")
	if !ok || len(text) < 3 || len(text) > 3 && text[3] != ' ' || !httpguts.ValidHeaderFieldValue(text) {
		return false
	}
	code, err := strconv.Atoi(text[:3])
	p.response.Status, p.response.StatusCode = text, code
	p.response.Proto, p.response.ProtoMajor, p.response.ProtoMinor = "HTTP/1.1", 1, 1
	return err == nil && 200 <= code && code <= 599 && code != http.StatusNoContent && code != http.StatusNotModified
}

// checkField reads one field. It returns false if the field makes the head not plain.
func (p *plainResponse) checkField(l headLine) bool {
	switch l.name {
	case "Content-Length":
		return p.parseContentLength(l.value)
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

// parseContentLength parses the body's length.
func (p *plainResponse) parseContentLength(value string) bool {
	const maxDigits = 15 // no overflow
	if len(value) == 0 || len(value) > maxDigits {
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

// setBody prepares the body for reading.
func (p *plainResponse) setBody(in *bufio.Reader) {
	switch {
	case p.response.TransferEncoding != nil:
		p.chunked = chunkedBody{httputil.NewChunkedReader(in), in, &p.response}
		p.body.src, p.body.chunked = &p.chunked, true
	case p.response.ContentLength == 0:
		p.response.Body = http.NoBody
	default:
		p.fixedLength = fixedLengthBody{in, p.response.ContentLength}
		p.body.src = &p.fixedLength
	}
}
