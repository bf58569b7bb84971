package httpserver_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/fasthttp/httpserver"
)

func TestSilentConn_ClosedAfterReadHeaderTimeout(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{IdleTimeout: time.Hour, ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(echo)})
	used := d.dial(t)
	used.send(formatPost("/mcp", "x"))
	used.wantResponse("fast", http.StatusOK, "POST /mcp x")
	d.dial(t).wantEnd()
	used.send(formatPost("/mcp", "x"))
	used.wantResponse("fast", http.StatusOK, "POST /mcp x")
}

func TestRequestState_UnusableAfterHandlerReturns(t *testing.T) {
	t.Parallel()
	var body io.Reader // no lock: one goroutine serves a connection
	var reply http.ResponseWriter
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body == nil {
			body, reply = r.Body, w
			_, _ = io.WriteString(w, "first")
			return
		}
		if got, err := io.ReadAll(body); len(got) > 0 || !errors.Is(err, http.ErrBodyReadAfterClose) {
			t.Errorf("the first body reads %q, %v", got, err)
		}
		reply.Header().Set("X-Late", "1")
		if _, err := reply.Write([]byte("late")); err == nil || http.NewResponseController(reply).Flush() == nil {
			t.Error("the first reply goes on")
		}
		if got, err := io.ReadAll(r.Body); string(got) != "two" || err != nil {
			t.Errorf("the second body reads %q, %v", got, err)
		}
		_, _ = io.WriteString(w, "second")
	})})
	w := d.dial(t)
	w.send(formatPost("/mcp", "one"))
	w.wantResponse("fast", http.StatusOK, "first")
	w.send(formatPost("/mcp", "two"))
	if resp := w.wantResponse("fast", http.StatusOK, "second"); resp.Header.Get("X-Late") != "" {
		t.Error("the second reply has a field of the first")
	}
}

func TestConn_SkipsLineEndsAfterBody(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{ReadHeaderTimeout: time.Second, IdleTimeout: time.Hour, Handler: http.HandlerFunc(echo)})
	w := d.dial(t)
	w.send(formatPost("/mcp", "one") + "\r\n")
	w.wantResponse("fast", http.StatusOK, "POST /mcp one")
	d.dial(t).wantEnd() // after ReadHeaderTimeout
	w.send(formatPost("/mcp", "two") + "\r\n" + formatPost("/mcp", "three"))
	w.wantResponse("fast", http.StatusOK, "POST /mcp two")
	w.wantResponse("fast", http.StatusOK, "POST /mcp three")
}

func TestLastResponse_DoesNotWaitForUnreadBody(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{StallTimeout: time.Hour, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength < 1000 {
			w.Header().Set("Connection", "close")
		}
		http.Error(w, "no", http.StatusUnauthorized)
	})})
	for _, length := range []string{"999", "1000000"} {
		w := d.dial(t)
		w.send("POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: " + length + "\r\n\r\nhalf of it")
		w.wantResponse("fast", http.StatusUnauthorized, "no\n")
		w.wantEnd()
	}
}

func TestConn_PanicOutsideHandlerClosesOneConn(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(echo)})
	d.panicPath.Store("/mcp/panic")
	w := d.dial(t)
	w.send(formatPost("/mcp/panic", "x"))
	w.wantEnd()
	other := d.dial(t)
	other.send(formatPost("/mcp", "x"))
	other.wantResponse("fast", http.StatusOK, "POST /mcp x")
	if !strings.Contains(d.log.String(), "kind=connection") {
		t.Errorf("the log says %q", d.log)
	}
}

func TestServe_RefusesAfterShutdown(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]func(*httpserver.Server) error{
		"shut down": func(s *httpserver.Server) error { return s.Shutdown(withTimeout(t)) },
		"closed":    (*httpserver.Server).Close,
	} {
		s := httpserver.New(httpserver.Options{Fallback: &http.Server{ReadHeaderTimeout: time.Minute}})
		if err := end(s); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		var on net.ListenConfig
		l, err := on.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("%s: it serves, and ends with %v", what, err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: its listener is open: %v", what, err)
		}
	}
}
