package fastpath_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"patchbay/internal/fastpath"
)

func TestPlainRequestsAreServedOneAfterTheOtherOnOneConnection(t *testing.T) {
	t.Parallel()
	d := open(t, fastpath.Options{Handler: http.HandlerFunc(echo)})
	w := d.dial(t)
	for i := range 20 {
		body := strings.Repeat("b", i*1000)
		w.send(post("/mcp/x", body))
		resp := w.wantAnswer("fast", http.StatusOK, "POST /mcp/x "+body)
		if resp.Close || resp.Header.Get("Date") == "" || resp.Header.Get("Content-Type") != "text/plain" {
			t.Errorf("the head is %v", resp.Header)
		}
	}
	w.send(post("/mcp", "1") + post("/mcp", "2") + post("/mcp", "3")[:40]) // before anybody answers
	w.wantAnswer("fast", http.StatusOK, "POST /mcp 1")
	w.wantAnswer("fast", http.StatusOK, "POST /mcp 2")
	w.send(post("/mcp", "3")[40:])
	w.wantAnswer("fast", http.StatusOK, "POST /mcp 3")
	w.send(post("/mcp", "4", "Connection: close"))
	if resp := w.wantAnswer("fast", http.StatusOK, "POST /mcp 4"); !resp.Close {
		t.Error("it does not say that the connection ends")
	}
	w.wantEnd()
}

func TestWhatIsNotPlainIsServedByNetHTTPFromItsFirstByteOn(t *testing.T) {
	t.Parallel()
	d := open(t, fastpath.Options{Handler: http.HandlerFunc(echo)})
	chunked := "POST /mcp HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
	for what, request := range map[string]string{
		"POST /mcp abc":              chunked,
		"POST /elsewhere abc":        post("/elsewhere", "abc"),
		"POST /mcp/ä x":              post("/mcp/%c3%a4", "x"),
		"GET /mcp ":                  "GET /mcp HTTP/1.1\r\nHost: h\r\n\r\n",
		"POST /mcp long":             post("/mcp", "long", "X-Long: "+strings.Repeat("l", 5000)),
		"POST /mcp folded":           post("/mcp", "folded", "Cache-Control: a", "Pragma: no-cache"),
		"POST /mcp/many " + "abcdef": post("/mcp/many", "abcdef", strings.Split(strings.Repeat("X-A: b,", 40)+"X-A: b", ",")...),
	} {
		w := d.dial(t)
		w.send(post("/mcp", "before"))
		w.wantAnswer("fast", http.StatusOK, "POST /mcp before")
		w.send(request)
		w.wantAnswer("net/http", http.StatusOK, what)
		w.send(post("/mcp", "after"))
		w.wantAnswer("net/http", http.StatusOK, "POST /mcp after")
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
		if resp, _ := w.answered(); resp.StatusCode/100 != 4 && resp.StatusCode != http.StatusNotImplemented || !resp.Close {
			t.Errorf("%q is answered with %d", broken, resp.StatusCode)
		}
	}
}

func TestABodyThatNobodyReadsDoesNotBecomeTheNextRequest(t *testing.T) {
	t.Parallel()
	d := open(t, fastpath.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		some := make([]byte, 3)
		_, _ = io.ReadFull(r.Body, some)
		_, _ = w.Write(some)
	})})
	w := d.dial(t)
	for _, n := range []int{0, 10, 5_000, 500_000} {
		w.send(post("/mcp", "abc"+strings.Repeat(post("/mcp", "evil"), n/100)))
		w.wantAnswer("fast", http.StatusOK, "abc")
	}
}

func TestABodyComesInPiecesAndIsCutOffWhereItStalls(t *testing.T) {
	t.Parallel()
	heard := make(chan error, 1)
	d := open(t, fastpath.Options{Stall: 100 * time.Millisecond, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		heard <- err
		_, _ = w.Write(body)
	})})
	w := d.dial(t)
	whole := post("/mcp", strings.Repeat("0123456789", 10))
	for _, b := range []byte(whole) {
		w.send(string(b))
	}
	w.wantAnswer("fast", http.StatusOK, strings.Repeat("0123456789", 10))
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

func TestARequestEndsWhenItsClientGoes(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan struct{})
	d := open(t, fastpath.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		began <- struct{}{}
		<-r.Context().Done()
		ended <- struct{}{}
	})})
	w := d.dial(t)
	w.send(post("/mcp", "x"))
	<-began
	_ = w.Close()
	<-ended
	reset := d.dial(t)
	reset.send(post("/mcp", "x"))
	<-began
	_ = reset.SetLinger(0)
	_ = reset.Close()
	<-ended
}

func TestTheContextOfARequestEndsWithItsAnswer(t *testing.T) {
	t.Parallel()
	seen := make(chan context.Context, 1)
	d := open(t, fastpath.Options{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Context() })})
	w := d.dial(t)
	w.send(post("/mcp", "x"))
	w.wantAnswer("fast", http.StatusOK, "")
	ctx := <-seen
	<-ctx.Done()
	if at := ctx.Value(http.LocalAddrContextKey); at == nil {
		t.Error("nobody can tell which address was asked")
	}
}

func TestConnectionsThatAskForNothingEnd(t *testing.T) {
	t.Parallel()
	d := open(t, fastpath.Options{IdleTimeout: 50 * time.Millisecond, ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(echo)})
	for range 2 {
		w := d.dial(t)
		w.send(post("/mcp", "x"))
		w.wantAnswer("fast", http.StatusOK, "POST /mcp x")
		w.wantEnd()
	}
}

func TestAHeadThatDoesNotComeToItsEndIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	d := open(t, fastpath.Options{IdleTimeout: time.Hour, ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(echo)})
	w := d.dial(t)
	w.send(post("/mcp", "x"))
	w.wantAnswer("fast", http.StatusOK, "POST /mcp x")
	w.send(post("/mcp", "x")[:20])
	w.wantEnd()
}

func TestAHandlerThatPanicsEndsItsConnectionAlone(t *testing.T) {
	t.Parallel()
	d := open(t, fastpath.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		w.send(post("/mcp", how))
		w.wantEnd()
		other.send(post("/mcp", "fine"))
		other.wantAnswer("fast", http.StatusOK, "fine")
	}
	if log := d.log.String(); strings.Count(log, "panic recovered") != 1 || strings.Contains(log, "a secret") {
		t.Errorf("the log says %q", log)
	}
}

func TestShutdownLetsAnswersEndAndClosesTheRest(t *testing.T) {
	t.Parallel()
	began, on := make(chan struct{}), make(chan struct{})
	d := open(t, fastpath.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) == "wait" {
			began <- struct{}{}
			<-on
		}
		_, _ = w.Write(body)
	})})
	idle, busy := d.dial(t), d.dial(t)
	idle.send(post("/mcp", "x"))
	idle.wantAnswer("fast", http.StatusOK, "x")
	busy.send(post("/mcp", "wait"))
	<-began
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Shutdown(short); !errors.Is(err, context.Canceled) {
		t.Errorf("with a request under way it ends with %v", err)
	}
	idle.wantEnd()
	done := make(chan error, 1)
	go func() { done <- d.Shutdown(within(t)) }()
	close(on)
	if resp := busy.wantAnswer("fast", http.StatusOK, "wait"); !resp.Close {
		t.Error("the last answer does not say that the connection ends")
	}
	busy.wantEnd()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestCloseCutsEverything(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan struct{})
	d := open(t, fastpath.Options{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		<-r.Context().Done()
		close(ended)
	})})
	w := d.dial(t)
	w.send(post("/mcp", ""))
	<-began
	_ = d.Close()
	<-ended
	w.wantEnd()
}

func TestALastAnswerArrivesAlthoughMoreWasSent(t *testing.T) {
	t.Parallel()
	d := open(t, fastpath.Options{Stall: 50 * time.Millisecond, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		http.Error(w, "no", http.StatusUnauthorized)
	})})
	w := d.dial(t)
	w.send("POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nhalf of it")
	if resp := w.wantAnswer("fast", http.StatusUnauthorized, "no\n"); !resp.Close {
		t.Error("it does not say that the connection ends")
	}
	w.wantEnd()
}

func TestManyClientsAreServedAtOnce(t *testing.T) {
	t.Parallel()
	d := open(t, fastpath.Options{Handler: http.HandlerFunc(echo)})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	t.Cleanup(client.CloseIdleConnections)
	failed := make(chan error, 32)
	for i := range 32 {
		go func() { failed <- ask(within(t), client, d.addr, i) }()
	}
	for range 32 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

func ask(ctx context.Context, client *http.Client, addr string, from int) error {
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
