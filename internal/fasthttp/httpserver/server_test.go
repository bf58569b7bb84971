package httpserver_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"patchbay/internal/fasthttp/httpserver"
)

func TestServer_ServesPlainRequestsOnOneConn(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(echo)})
	w := d.dial(t)
	for i := range 20 {
		body := strings.Repeat("b", i*1000)
		w.send(formatPost("/mcp/x", body))
		resp := w.wantResponse("fast", http.StatusOK, "POST /mcp/x "+body)
		if resp.Close || resp.Header.Get("Date") == "" || resp.Header.Get("Content-Type") != "text/plain" {
			t.Errorf("the head is %v", resp.Header)
		}
	}
	w.send(formatPost("/mcp", "1") + formatPost("/mcp", "2") + formatPost("/mcp", "3")[:40]) // pipelined
	w.wantResponse("fast", http.StatusOK, "POST /mcp 1")
	w.wantResponse("fast", http.StatusOK, "POST /mcp 2")
	w.send(formatPost("/mcp", "3")[40:])
	w.wantResponse("fast", http.StatusOK, "POST /mcp 3")
	w.send(formatPost("/mcp", "4", "Connection: close"))
	if resp := w.wantResponse("fast", http.StatusOK, "POST /mcp 4"); !resp.Close {
		t.Error("it does not say that the connection ends")
	}
	w.wantEnd()
}

func TestServer_HandsOtherRequestsToNetHTTP(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(echo)})
	chunked := "POST /mcp HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
	for what, request := range map[string]string{
		"POST /mcp abc":              chunked,
		"POST /elsewhere abc":        formatPost("/elsewhere", "abc"),
		"POST /mcp/ä x":              formatPost("/mcp/%c3%a4", "x"),
		"GET /mcp ":                  "GET /mcp HTTP/1.1\r\nHost: h\r\n\r\n",
		"POST /mcp long":             formatPost("/mcp", "long", "X-Long: "+strings.Repeat("l", 5000)),
		"POST /mcp folded":           formatPost("/mcp", "folded", "Cache-Control: a", "Pragma: no-cache"),
		"POST /mcp/many " + "abcdef": formatPost("/mcp/many", "abcdef", strings.Split(strings.Repeat("X-A: b,", 40)+"X-A: b", ",")...),
	} {
		w := d.dial(t)
		w.send(formatPost("/mcp", "before"))
		w.wantResponse("fast", http.StatusOK, "POST /mcp before")
		w.send(request)
		w.wantResponse("net/http", http.StatusOK, what)
		w.send(formatPost("/mcp", "after"))
		w.wantResponse("net/http", http.StatusOK, "POST /mcp after")
	}
	for _, broken := range []string{
		"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: gzip, chunked\r\n\r\nabc",
		"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length : 3\r\n\r\nabc",
		"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nX: \x00\r\n\r\nabc",
		"rubbish\r\n\r\n",
	} {
		w := d.dial(t)
		w.send(broken)
		if resp, _ := w.readResponse(); resp.StatusCode/100 != 4 && resp.StatusCode != http.StatusNotImplemented || !resp.Close {
			t.Errorf("%q is answered with %d", broken, resp.StatusCode)
		}
	}
}

func TestUnreadBody_IsNotTheNextRequest(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		some := make([]byte, 3)
		_, _ = io.ReadFull(r.Body, some)
		_, _ = w.Write(some)
	})})
	w := d.dial(t)
	for _, n := range []int{0, 10, 5_000, 500_000} {
		w.send(formatPost("/mcp", "abc"+strings.Repeat(formatPost("/mcp", "evil"), n/100)))
		w.wantResponse("fast", http.StatusOK, "abc")
	}
}

func TestBody_ReadInPiecesAndFailsOnStall(t *testing.T) {
	t.Parallel()
	heard := make(chan error, 1)
	d := openServer(t, httpserver.Options{StallTimeout: 100 * time.Millisecond, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		heard <- err
		_, _ = w.Write(body)
	})})
	w := d.dial(t)
	whole := formatPost("/mcp", strings.Repeat("0123456789", 10))
	for _, b := range []byte(whole) {
		w.send(string(b))
	}
	w.wantResponse("fast", http.StatusOK, strings.Repeat("0123456789", 10))
	if err := <-heard; err != nil {
		t.Error(err)
	}
	w.send(whole[:len(whole)-1])
	if err := <-heard; err == nil {
		t.Error("a body that stalls is whole")
	}
	half := d.dial(t)
	half.send(whole[:len(whole)-1])
	_ = half.CloseWrite()
	if err := <-heard; err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a body that is cut short ends with %v", err)
	}
}

func TestRequestContext_EndsWhenClientDisconnects(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan struct{})
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		began <- struct{}{}
		<-r.Context().Done()
		ended <- struct{}{}
	})})
	w := d.dial(t)
	w.send(formatPost("/mcp", "x"))
	<-began
	_ = w.Close()
	<-ended
	reset := d.dial(t)
	reset.send(formatPost("/mcp", "x"))
	<-began
	_ = reset.SetLinger(0)
	_ = reset.Close()
	<-ended
}

func TestRequestContext_EndsWithResponse(t *testing.T) {
	t.Parallel()
	seen := make(chan context.Context, 1)
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Context() })})
	w := d.dial(t)
	w.send(formatPost("/mcp", "x"))
	w.wantResponse("fast", http.StatusOK, "")
	ctx := <-seen
	<-ctx.Done()
	if at := ctx.Value(http.LocalAddrContextKey); at == nil {
		t.Error("nobody can tell which address was asked")
	}
}

func TestIdleConn_ClosedAfterIdleTimeout(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{IdleTimeout: 50 * time.Millisecond, ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(echo)})
	for range 2 {
		w := d.dial(t)
		w.send(formatPost("/mcp", "x"))
		w.wantResponse("fast", http.StatusOK, "POST /mcp x")
		w.wantEnd()
	}
}

func TestPartialHead_ClosedAfterReadHeaderTimeout(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{IdleTimeout: time.Hour, ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(echo)})
	w := d.dial(t)
	w.send(formatPost("/mcp", "x"))
	w.wantResponse("fast", http.StatusOK, "POST /mcp x")
	w.send(formatPost("/mcp", "x")[:20])
	w.wantEnd()
}

func TestHandlerPanic_ClosesOneConn(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch string(body) {
		case "abort":
			panic(http.ErrAbortHandler)
		case "panic":
			panic("a secret")
		}
		_, _ = w.Write(body)
	})})
	other := d.dial(t)
	for _, how := range []string{"abort", "panic"} {
		w := d.dial(t)
		w.send(formatPost("/mcp", how))
		w.wantEnd()
		other.send(formatPost("/mcp", "fine"))
		other.wantResponse("fast", http.StatusOK, "fine")
	}
	if log := d.log.String(); strings.Count(log, "panic recovered") != 1 || strings.Contains(log, "a secret") {
		t.Errorf("the log says %q", log)
	}
}

func TestShutdown_FinishesResponsesAndClosesIdleConns(t *testing.T) {
	t.Parallel()
	began, on := make(chan struct{}), make(chan struct{})
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) == "wait" {
			began <- struct{}{}
			<-on
		}
		_, _ = w.Write(body)
	})})
	idle, busy := d.dial(t), d.dial(t)
	idle.send(formatPost("/mcp", "x"))
	idle.wantResponse("fast", http.StatusOK, "x")
	busy.send(formatPost("/mcp", "wait"))
	<-began
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Shutdown(short); !errors.Is(err, context.Canceled) {
		t.Errorf("with a request under way it ends with %v", err)
	}
	idle.wantEnd()
	done := make(chan error, 1)
	go func() { done <- d.Shutdown(withTimeout(t)) }()
	close(on)
	if resp := busy.wantResponse("fast", http.StatusOK, "wait"); !resp.Close {
		t.Error("the last answer does not say that the connection ends")
	}
	busy.wantEnd()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestClose_CancelsRequestsAndClosesConns(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan struct{})
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		<-r.Context().Done()
		close(ended)
	})})
	w := d.dial(t)
	w.send(formatPost("/mcp", ""))
	<-began
	_ = d.Close()
	<-ended
	w.wantEnd()
}

func TestLastResponse_ArrivesDespiteUnreadData(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{StallTimeout: 50 * time.Millisecond, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		http.Error(w, "no", http.StatusUnauthorized)
	})})
	w := d.dial(t)
	w.send("POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nhalf of it")
	if resp := w.wantResponse("fast", http.StatusUnauthorized, "no\n"); !resp.Close {
		t.Error("it does not say that the connection ends")
	}
	w.wantEnd()
}

func TestServer_ServesManyClients(t *testing.T) {
	t.Parallel()
	d := openServer(t, httpserver.Options{Handler: http.HandlerFunc(echo)})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	t.Cleanup(client.CloseIdleConnections)
	failed := make(chan error, 32)
	for i := range 32 {
		go func() { failed <- sendRequests(withTimeout(t), client, d.addr, i) }()
	}
	for range 32 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

func sendRequests(ctx context.Context, client *http.Client, addr string, from int) error {
	for i := range 50 {
		text := strings.Repeat(strconv.Itoa(from)+" ", i*37)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/mcp", strings.NewReader(text))
		if err != nil {
			return err
		}
		resp, err := client.Do(r)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return err
		}
		if string(body) != "POST /mcp "+text {
			return errors.New("another answer: " + string(body))
		}
	}
	return nil
}
