package main

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// stallLimit is how long a client may neither send a byte of its body nor take a byte of the answer.
const stallLimit = 30 * time.Second

// maxTimedBody is the body length, in bytes, up to which a longer body may take longer. It is at least what any route reads.
const maxTimedBody = 16 << 20

// bodyTime returns how long the whole body of a request may take: stallLimit, and a second for each 128 KiB. A length that is unknown (-1)
// or larger counts as maxTimedBody.
func bodyTime(length int64) time.Duration {
	if length < 0 || length > maxTimedBody {
		length = maxTimedBody
	}
	return stallLimit + time.Duration(length>>17)*time.Second
}

// boundBodies gives each request's body a deadline before a handler looks at the request. net/http reads on in a body that its handler left
// alone, and would wait for it without an end. Package fastpath bounds bodies itself.
func boundBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime(r.ContentLength)))
		}
		next.ServeHTTP(w, r)
	})
}

// deadlines ends a request whose client stalls, or sends its body too slowly. The server's own ReadTimeout and WriteTimeout bound a whole
// request, which would cut event streams and long syncs; these bound each read, the whole body, and each write.
func deadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetWriteDeadline(time.Time{}) // the one of the connection's last request
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &patientBody{ReadCloser: r.Body, control: control, until: time.Now().Add(bodyTime(r.ContentLength))}
		}
		next.ServeHTTP(&patientWriter{ResponseWriter: w, control: control}, r)
	})
}

// patientBody moves the deadline with each read and takes it away at the end, where the server begins to listen for the
// client's going away: a deadline there would end the request.
type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
	until   time.Time // the end of the whole body
}

func (b *patientBody) Read(p []byte) (int, error) {
	deadline := time.Now().Add(stallLimit)
	if deadline.After(b.until) {
		deadline = b.until
	}
	_ = b.control.SetReadDeadline(deadline)
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// Close takes the deadline away, too: a body that nobody reads to its end is closed.
func (b *patientBody) Close() error {
	err := b.ReadCloser.Close()
	_ = b.control.SetReadDeadline(time.Time{})
	return err
}

// patientWriter moves the deadline with each write.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w *patientWriter) Write(p []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(stallLimit))
	return w.ResponseWriter.Write(p)
}

// Flush is called by event streams.
func (w *patientWriter) Flush() {
	_ = w.control.SetWriteDeadline(time.Now().Add(stallLimit))
	_ = w.control.Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (w *patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
