package inprocess

import (
	"bytes"
	"net/http"
)

// Recorder keeps a response in memory. It implements [http.ResponseWriter]. Its zero value is ready for use.
type Recorder struct {
	Status int // 0: not written
	Body   bytes.Buffer

	header http.Header
}

// Header implements http.ResponseWriter.
func (r *Recorder) Header() http.Header {
	if r.header == nil {
		r.header = http.Header{}
	}
	return r.header
}

// WriteHeader implements http.ResponseWriter. The first status counts.
func (r *Recorder) WriteHeader(status int) {
	if r.Status == 0 {
		r.Status = status
	}
}

// Write implements http.ResponseWriter.
func (r *Recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.Body.Write(p)
}
