package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// deadlineRecorder is a connection that records its deadlines.
type deadlineRecorder struct {
	http.ResponseWriter
	read, write time.Time
	flushed     int
}

func (d *deadlineRecorder) SetReadDeadline(t time.Time) error  { d.read = t; return nil }
func (d *deadlineRecorder) SetWriteDeadline(t time.Time) error { d.write = t; return nil }
func (d *deadlineRecorder) Flush()                             { d.flushed++ }

func TestDeadlines_MoveWithReadsAndWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &deadlineRecorder{ResponseWriter: httptest.NewRecorder(), write: time.Now()}
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("abc"))
		withDeadlines(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if !w.write.IsZero() {
				t.Error("the last request's deadline is still there")
			}
			one := make([]byte, 1)
			for range 3 {
				time.Sleep(time.Nanosecond) // in a synctest bubble
				if _, err := r.Body.Read(one); err != nil {
					t.Error(err)
				}
				if left := time.Until(w.read); left <= 0 || left >= stallTimeout {
					t.Errorf("after a read there are %s", left)
				}
			}
			if _, err := io.ReadAll(r.Body); err != nil || !w.read.IsZero() {
				t.Errorf("at the end the deadline stays: %v", w.read)
			}
			for range 3 {
				time.Sleep(time.Minute)
				if _, err := io.WriteString(out, "x"); err != nil {
					t.Error(err)
				}
				flusher, ok := out.(http.Flusher)
				if !ok {
					t.Fatal("an event stream cannot be flushed")
				}
				flusher.Flush()
				if left := time.Until(w.write); left != stallTimeout {
					t.Errorf("after a write there are %s", left)
				}
			}
		})).ServeHTTP(w, r)
		if w.flushed != 3 {
			t.Errorf("flushed %d times", w.flushed)
		}
	})
}

// net/http waits for the client's disconnect once the body is read. A deadline that stayed set would look like
// one.
func TestDeadlines_KeepContextOfLongHandler(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	ended := make(chan error, 1)
	server := httptest.NewServer(withDeadlines(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		close(released)
		<-r.Context().Done()
		ended <- r.Context().Err()
	})))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
	<-released
	select {
	case err := <-ended:
		t.Fatalf("the handler was cancelled while its client waits: %v", err)
	default:
	}
	_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := bufio.NewReader(conn).ReadByte(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("an answer came: %v", err)
	}
	_ = conn.Close()
	<-ended // a disconnect still ends it
}
