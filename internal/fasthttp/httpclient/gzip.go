package httpclient

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// gzipBody decodes a body that the server compressed at the transport's request.
type gzipBody struct {
	*responseBody
	reader    *gzip.Reader // nil before the first read and after the last
	decodeErr error        // of further reads
}

func isGzip(h http.Header) bool { return strings.EqualFold(h.Get("Content-Encoding"), "gzip") }

func setGzipBody(resp *http.Response, b *responseBody) {
	resp.Body = &gzipBody{responseBody: b}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
}

// Read reads decompressed bytes.
func (z *gzipBody) Read(p []byte) (n int, err error) {
	if z.decodeErr != nil {
		return 0, z.decodeErr
	}
	if z.reader == nil {
		z.reader, _ = gzipReaders.Get().(*gzip.Reader) // the pool has no other type
		z.decodeErr = z.reader.Reset(z.responseBody)
	}
	if z.decodeErr == nil {
		n, z.decodeErr = z.reader.Read(p)
	}
	if z.decodeErr != nil {
		_ = z.reader.Reset(emptyReader{})
		gzipReaders.Put(z.reader)
		z.reader = nil
	}
	return n, z.decodeErr
}

var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

// emptyReader replaces the source of a pooled gzip.Reader, so that it keeps no body alive.
type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, io.EOF }

func (emptyReader) ReadByte() (byte, error) { return 0, io.EOF }
