package httpclient

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/textproto"
)

// fixedLengthBody is a body with a Content-Length.
type fixedLengthBody struct {
	in        *bufio.Reader
	remaining int64
}

// Read returns io.EOF together with the last bytes.
func (m *fixedLengthBody) Read(p []byte) (int, error) {
	n, err := m.in.Read(p[:min(int64(len(p)), m.remaining)])
	m.remaining -= int64(n)
	switch {
	case m.remaining == 0 && err == nil:
		return n, io.EOF
	case m.remaining > 0 && errors.Is(err, io.EOF):
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

// chunkedBody is a chunked body. net/http's reader decodes the chunks, and its rules hold for the trailers.
type chunkedBody struct {
	src      io.Reader
	in       *bufio.Reader
	response *http.Response // gets the trailers
}

// errTrailers must not wrap io.EOF, or else the connection would be reused in the middle of a response.
var errTrailers = errors.New("the response's trailers cannot be read")

// Read reads the trailers before it returns io.EOF.
func (c *chunkedBody) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	if errors.Is(err, io.EOF) && !c.readTrailers() {
		err = errTrailers
	}
	return n, err
}

// readTrailers reads from the last chunk to the end of the response, mostly an empty line. Trailers have to fit
// in the buffer.
func (c *chunkedBody) readTrailers() bool {
	switch start, _ := c.in.Peek(len(crlf)); {
	case bytes.Equal(start, crlf):
		_, _ = c.in.Discard(len(crlf))
		return true
	case len(start) < len(crlf) || !hasEndOfFields(c.in):
		return false
	}
	fields, err := textproto.NewReader(c.in).ReadMIMEHeader()
	if err == nil {
		c.response.Trailer = http.Header(fields)
	}
	return err == nil
}

// hasEndOfFields waits until the empty line behind the fields is buffered. It returns false if they are too
// long or the connection ends.
func hasEndOfFields(in *bufio.Reader) bool {
	for {
		buffered, _ := in.Peek(in.Buffered())
		if bytes.Contains(buffered, endOfFields) {
			return true
		}
		if _, err := in.Peek(len(buffered) + 1); err != nil {
			return false
		}
	}
}
