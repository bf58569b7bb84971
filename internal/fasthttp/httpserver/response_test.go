package httpserver_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/fasthttp/httpserver"
)

// responseHandlers are handlers whose responses net/http sends in the same form.
var responseHandlers = map[string]http.HandlerFunc{
	"nothing":           func(http.ResponseWriter, *http.Request) {},
	"a status alone":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) },
	"no content":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	"not modified":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) },
	"an unknown status": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(299) },
	"text without a type": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>")
	},
	"a length": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5")
		_, _ = io.WriteString(w, "he")
		_, _ = io.WriteString(w, "llo")
	},
	"more than its length": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5")
		w.Header().Set("Connection", "close") // net/http closes it, too, without this field
		_, _ = io.WriteString(w, "hello")
		if _, err := io.WriteString(w, "world"); !errors.Is(err, http.ErrContentLength) {
			panic(err)
		}
	},
	"a body that may not be": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
		if _, err := io.WriteString(w, "hello"); !errors.Is(err, http.ErrBodyNotAllowed) {
			panic(err)
		}
	},
	"two statuses": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		w.WriteHeader(http.StatusOK)
	},
	"fields after the head": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Before", "1")
		_ = http.NewResponseController(w).Flush()
		w.Header().Set("X-After", "1")
		_, _ = io.WriteString(w, "x")
	},
	"odd fields": func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h["X-Many"] = []string{"a", " b ", ""}
		h["X-Split"] = []string{"a\r\nX-Evil: b\nc"}
		h["Bad Name"] = []string{"x"}
		h["X-Evil: 1\r\nX"] = []string{"x"}
		h.Set("Content-Type", "application/json")
	},
	"a long text": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, strings.Repeat("long ", 50_000))
	},
	"a long text with a length": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "250000")
		_, _ = io.WriteString(w, strings.Repeat("long ", 50_000))
	},
	"many pieces": func(w http.ResponseWriter, _ *http.Request) {
		for i := range 5000 {
			_, _ = fmt.Fprintf(w, "piece %d ", i)
		}
	},
	"events": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = w.Write(nil)
	},
	"a flush and no body": func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush() },
	"the end of the connection": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, "bye")
	},
}

func TestResponses_MatchNetHTTP(t *testing.T) {
	t.Parallel()
	for what, h := range responseHandlers {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d := openServer(t, httpserver.Options{Handler: h})
			type seen struct {
				Status string
				Header http.Header
				Length int64
				Coding []string
				Body   string
				Close  bool
				Again  bool
			}
			of := func(path string) seen {
				w := d.dial(t)
				w.send(formatPost(path, "x"))
				resp, body := w.readResponse()
				for _, name := range []string{servedBy, "Date"} {
					if resp.Header.Get(name) == "" {
						t.Errorf("%s is missing", name)
					}
					resp.Header.Del(name)
				}
				s := seen{resp.Status, resp.Header, resp.ContentLength, resp.TransferEncoding, body, resp.Close, false}
				if !resp.Close {
					w.send(formatPost(path, "x"))
					_, again := w.readResponse()
					s.Again = again == body
				}
				return s
			}
			if diff := cmp.Diff(of("/elsewhere"), of("/mcp")); diff != "" {
				t.Errorf("(-net/http +ours):\n%s", diff)
			}
		})
	}
}

func TestShortResponse_ClosesConnection(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "short")
	})})
	w := d.dial(t)
	w.send(formatPost("/mcp", "x"))
	resp, err := http.ReadResponse(w.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v", body, err)
	}
}

func TestFlush_SendsEventsImmediately(t *testing.T) {
	t.Parallel()
	more := make(chan string)
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for text := range more {
			_, _ = io.WriteString(w, text)
			w.(http.Flusher).Flush() //nolint:forcetypeassert // it is one
		}
	})})
	w := d.dial(t)
	w.send(formatPost("/mcp", ""))
	more <- "first"
	resp, err := http.ReadResponse(w.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	for _, text := range []string{"first", "other"} {
		if text != "first" {
			more <- text
		}
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != text {
			t.Fatalf("%q, %v", got, err)
		}
	}
	close(more)
	if rest, err := io.ReadAll(resp.Body); len(rest) > 0 || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestWrite_FailsWhenClientReadsNothing(t *testing.T) {
	t.Parallel()
	for what, until := range map[string]func(c *http.ResponseController){
		"by default":     func(*http.ResponseController) {},
		"by the handler": func(c *http.ResponseController) { _ = c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)) },
		"at once":        func(c *http.ResponseController) { _ = c.SetWriteDeadline(time.Unix(1, 0)) },
		"by another": func(c *http.ResponseController) {
			_ = c.SetWriteDeadline(time.Now().Add(time.Hour))
			go func() {
				for range 100 { // before or during the write
					_ = c.SetWriteDeadline(time.Unix(1, 0))
				}
			}()
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			failed := make(chan error, 1)
			d := openServer(t, httpserver.Options{StallTimeout: 100 * time.Millisecond, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				until(http.NewResponseController(w))
				_, err := w.Write(make([]byte, 64<<20))
				failed <- err
			})})
			w := d.dial(t)
			w.send(formatPost("/mcp", ""))
			if err := <-failed; err == nil {
				t.Error("64 MiB were sent to a client that reads nothing")
			}
		})
	}
}

func TestHijack_OnceAndConnIsLeftAlone(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		control := http.NewResponseController(w)
		conn, both, err := control.Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if _, _, err := control.Hijack(); !errors.Is(err, http.ErrHijacked) {
			t.Errorf("it is taken again: %v", err)
		}
		if _, err := w.Write([]byte("x")); !errors.Is(err, http.ErrHijacked) {
			t.Errorf("the answer goes on: %v", err)
		}
		go func() {
			defer func() { _ = conn.Close() }()
			line, err := bufio.NewReader(both).ReadString('\n')
			if err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(conn, "said "+line)
		}()
	})})
	w := d.dial(t)
	w.send(formatPost("/mcp", "body") + "more")
	quiet := d.dial(t)
	quiet.wantEnd() // so the sweeper has run
	w.send(" of it\n")
	if got, err := io.ReadAll(w.in); string(got) != "said more of it\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestHijack_RefusedAfterFlush(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		control := http.NewResponseController(w)
		_ = control.Flush()
		if _, _, err := control.Hijack(); err == nil {
			t.Error("a reply that has begun is taken")
		}
	})})
	w := d.dial(t)
	w.send(formatPost("/mcp", ""))
	w.wantResponse("fast", http.StatusOK, "")
}
