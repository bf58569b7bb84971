package h1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/textproto"
)

// measured is a body whose length was told.
type measured struct {
	in   *bufio.Reader
	left int64
}

// Read reads. The end comes with the last bytes.
func (m *measured) Read(p []byte) (int, error) {
	n, err := m.in.Read(p[:min(int64(len(p)), m.left)])
	m.left -= int64(n)
	switch {
	case m.left == 0 && err == nil:
		return n, io.EOF
	case m.left > 0 && errors.Is(err, io.EOF):
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

// chunks is a body in chunks. They are read as net/http reads them, and so is what follows them.
type chunks struct {
	src      io.Reader
	in       *bufio.Reader
	response *http.Response // is given the trailers
}

// errTrailers is none that says end: the connection would be used again, in the middle of something.
var errTrailers = errors.New("the response's trailers cannot be read")

// Read reads. With the end, the trailers have been read.
func (c *chunks) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	if errors.Is(err, io.EOF) && !c.trailers() {
		err = errTrailers
	}
	return n, err
}

// trailers reads what stands between the last chunk and the end of the response: an empty line, mostly. Whatever else there is fits in the
// buffer.
func (c *chunks) trailers() bool {
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

// hasEndOfFields waits until the end of some fields is buffered; false: it does not come, or there are too many of them.
func hasEndOfFields(in *bufio.Reader) bool {
	for {
		came, _ := in.Peek(in.Buffered())
		if bytes.Contains(came, endOfFields) {
			return true
		}
		if _, err := in.Peek(len(came) + 1); err != nil {
			return false
		}
	}
}
