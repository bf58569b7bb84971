package main

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// stallLimit is how long a client may neither send a byte of its body nor take a byte of the answer.
const stallLimit = 30 * time.Second

// deadlines ends a request whose client stalls. The server's own ReadTimeout and WriteTimeout bound a whole request, which
// would cut event streams and long syncs; these bound each read and each write.
func deadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetWriteDeadline(time.Time{}) // the one of the connection's last request
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &patientBody{ReadCloser: r.Body, control: control}
		}
		next.ServeHTTP(&patientWriter{ResponseWriter: w, control: control}, r)
	})
}

// patientBody moves the deadline with each read and takes it away at the end, where the server begins to listen for the
// client's going away: a deadline there would end the request.
type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *patientBody) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(stallLimit))
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
