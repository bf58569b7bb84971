package h1

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// zipped is a body that the server compressed because we asked for it.
type zipped struct {
	*body
	reader *gzip.Reader // nil: nothing was read yet, or all
	failed error        // what further reads return
}

func isGzip(h http.Header) bool { return strings.EqualFold(h.Get("Content-Encoding"), "gzip") }

func unzip(resp *http.Response, b *body) {
	resp.Body = &zipped{body: b}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
}

// Read reads what was compressed.
func (z *zipped) Read(p []byte) (n int, err error) {
	if z.failed != nil {
		return 0, z.failed
	}
	if z.reader == nil {
		z.reader, _ = unzippers.Get().(*gzip.Reader) // nothing else is in there
		z.failed = z.reader.Reset(z.body)
	}
	if z.failed == nil {
		n, z.failed = z.reader.Read(p)
	}
	if z.failed != nil {
		_ = z.reader.Reset(nothing{})
		unzippers.Put(z.reader)
		z.reader = nil
	}
	return n, z.failed
}

var unzippers = sync.Pool{New: func() any { return new(gzip.Reader) }}

// nothing is what an unused gzip.Reader holds on to.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

func (nothing) ReadByte() (byte, error) { return 0, io.EOF }
