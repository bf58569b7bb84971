package h1

import (
	"compress/gzip"
	"net/http"
	"strings"
)

// zipped is a body that the server compressed because we asked for it.
type zipped struct {
	*body
	reader *gzip.Reader // nil: nothing was read yet
	failed error
}

func isGzip(h http.Header) bool { return strings.EqualFold(h.Get("Content-Encoding"), "gzip") }

func unzip(resp *http.Response, b *body) {
	resp.Body = &zipped{body: b}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
}

// Read reads what was compressed.
func (z *zipped) Read(p []byte) (int, error) {
	if z.reader == nil && z.failed == nil {
		z.reader, z.failed = gzip.NewReader(z.body)
	}
	if z.failed != nil {
		return 0, z.failed
	}
	return z.reader.Read(p)
}
