package safehttp

import (
	"io"
	"net/http"
	"time"

	"patchbay/internal/safe"
)

// Bounded returns a copy of c for a library that reads responses whole. A response longer than maxBytes fails
// with http.MaxBytesError, and an exchange takes timeout at most.
func Bounded(c *http.Client, maxBytes int64, timeout time.Duration) *http.Client {
	return &http.Client{CheckRedirect: c.CheckRedirect, Transport: boundedTransport{next: c.Transport, maxBytes: maxBytes}, Timeout: timeout}
}

type boundedTransport struct {
	next     http.RoundTripper
	maxBytes int64
}

func (b boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err == nil {
		res.Body = &boundedBody{ReadCloser: res.Body, remaining: b.maxBytes, maxBytes: b.maxBytes}
	}
	return res, err
}

type boundedBody struct {
	io.ReadCloser
	remaining, maxBytes int64
}

// Read turns a panic into an error: the library may read in a goroutine that does not recover.
func (b *boundedBody) Read(p []byte) (n int, err error) {
	defer safe.RecoverTo(safe.Upstream, &err)
	if b.remaining < 0 {
		return 0, &http.MaxBytesError{Limit: b.maxBytes}
	}
	if int64(len(p)) > b.remaining+1 {
		p = p[:b.remaining+1] // one more byte shows whether the body is too long
	}
	n, err = b.ReadCloser.Read(p)
	if b.remaining -= int64(n); b.remaining < 0 {
		return n - 1, &http.MaxBytesError{Limit: b.maxBytes}
	}
	return n, err
}
