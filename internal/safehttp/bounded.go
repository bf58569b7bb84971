package safehttp

import (
	"io"
	"net/http"
	"time"

	"patchbay/internal/safe"
)

// Bounded is c for a library that reads answers whole: one that is longer than most bytes breaks off with http.MaxBytesError, and an
// exchange takes timeout at most. Where it connects is c's to decide.
func Bounded(c *http.Client, most int64, timeout time.Duration) *http.Client {
	return &http.Client{CheckRedirect: c.CheckRedirect, Transport: bounded{next: c.Transport, most: most}, Timeout: timeout}
}

type bounded struct {
	next http.RoundTripper
	most int64
}

// RoundTrip sends one request.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err == nil {
		res.Body = &boundedBody{ReadCloser: res.Body, left: b.most, most: b.most}
	}
	return res, err
}

type boundedBody struct {
	io.ReadCloser
	left, most int64
}

// Read reads. A panic is an error: the library may read in a goroutine that does not recover.
func (b *boundedBody) Read(p []byte) (n int, err error) {
	defer safe.RecoverTo(safe.Upstream, &err)
	if b.left < 0 {
		return 0, &http.MaxBytesError{Limit: b.most}
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more than may be: whether there is one
	}
	n, err = b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, &http.MaxBytesError{Limit: b.most}
	}
	return n, err
}
