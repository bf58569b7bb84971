package main

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// stallTimeout bounds the time in which a client neither sends a byte of its body nor reads a byte of the
// response.
const stallTimeout = 30 * time.Second

// maxTimedBody is the body length, in bytes, above which the timeout does not grow. Every route's limit is at
// most this.
const maxTimedBody = 16 << 20

// bodyTimeout is the timeout of a request's whole body: stallTimeout, plus 1 s per 128 KiB. A length that is
// unknown (-1) or larger counts as maxTimedBody.
func bodyTimeout(length int64) time.Duration {
	if length < 0 || length > maxTimedBody {
		length = maxTimedBody
	}
	return stallTimeout + time.Duration(length>>17)*time.Second
}

// withBodyDeadline sets a deadline for each request's body before the handler runs. net/http reads the rest of
// a body that its handler did not read, without a deadline of its own. Package httpserver bounds bodies itself.
func withBodyDeadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout(r.ContentLength)))
		}
		next.ServeHTTP(w, r)
	})
}

// withDeadlines ends a request whose client stalls, or sends its body too slowly. ReadTimeout and WriteTimeout
// of http.Server bound a whole request, which would cut event streams and long syncs. These deadlines bound
// each read, the whole body, and each write.
func withDeadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetWriteDeadline(time.Time{}) // of the connection's previous request
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &deadlineBody{ReadCloser: r.Body, control: control, deadline: time.Now().Add(bodyTimeout(r.ContentLength))}
		}
		next.ServeHTTP(&deadlineWriter{ResponseWriter: w, control: control}, r)
	})
}

// deadlineBody moves the deadline with each read and clears it at the end of the body. From then on the server
// waits for the client's disconnect, where a deadline would cancel the request.
type deadlineBody struct {
	io.ReadCloser
	control  *http.ResponseController
	deadline time.Time // for the whole body
}

func (b *deadlineBody) Read(p []byte) (int, error) {
	deadline := time.Now().Add(stallTimeout)
	if deadline.After(b.deadline) {
		deadline = b.deadline
	}
	_ = b.control.SetReadDeadline(deadline)
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// Close clears the deadline, too, for a body that was not read to its end.
func (b *deadlineBody) Close() error {
	err := b.ReadCloser.Close()
	_ = b.control.SetReadDeadline(time.Time{})
	return err
}

// deadlineWriter moves the deadline with each write.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w *deadlineWriter) Write(p []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(stallTimeout))
	return w.ResponseWriter.Write(p)
}

// Flush is called by event streams.
func (w *deadlineWriter) Flush() {
	_ = w.control.SetWriteDeadline(time.Now().Add(stallTimeout))
	_ = w.control.Flush()
}

// Unwrap is for http.ResponseController.
func (w *deadlineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
