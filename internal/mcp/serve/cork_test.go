package serve

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

type recordedWrites struct {
	net.Conn
	n *atomic.Int32
}

func (w *recordedWrites) Write(p []byte) (int, error) {
	w.n.Add(1)
	return w.Conn.Write(p)
}

func TestHold_WritesBuffersInOrderUnchanged(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	out := &recordedWrites{Conn: near, n: new(atomic.Int32)}
	c := &conn{Conn: out}
	long, short := []byte(strings.Repeat("long ", 2000)), []byte("short ")
	for range 3 { // a connection serves many requests
		c.Cork()
		for _, p := range [][]byte{short, long, short} {
			if n, err := c.Write(p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
		copy(short, "reused") // as net/http does with its buffers
		if n := out.n.Load(); n != 0 {
			t.Fatalf("%d writes while it was held", n)
		}
		done := make(chan error, 1)
		go func() { done <- c.Uncork() }()
		got := make([]byte, len(long)+2*len(short))
		if _, err := io.ReadFull(far, got); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil || string(got) != "short "+string(long)+"short " {
			t.Fatalf("%q and %v", got[:20], err)
		}
		copy(short, "short ")
		out.n.Store(0)
	}
	go func() { _, _ = io.Copy(io.Discard, far) }()
	if _, err := c.Write(short); err != nil || out.n.Load() != 1 {
		t.Errorf("a connection that was let go keeps what is written (%v)", err)
	}
}

func TestHold_ReportsBrokenConnection(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	c := &conn{Conn: near}
	c.Cork()
	if _, err := c.Write([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	_ = far.Close()
	if err := c.Uncork(); err == nil {
		t.Error("nobody hears of it")
	}
	c.Cork() // nothing of that is left
	if err := c.Uncork(); err != nil {
		t.Error(err)
	}
}

func TestHold_RepliesOfEveryLengthArriveWhole(t *testing.T) {
	t.Parallel()
	answers := []string{}
	for _, n := range []int{0, 1, minHeld - 1, minHeld, maxHeldCopy - 1, maxHeldCopy, maxHeldCopy + 1, 10_000, maxCopied, maxHeld - 1, maxHeld, maxHeld + 1, 1 << 20} {
		answers = append(answers, strings.Repeat("x", n))
	}
	s := New(Options{})
	var at atomic.Int32
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := answers[at.Load()]
		st := (&httpRequest{s: s, w: w, r: r}).newStream()
		if st.holder == nil {
			t.Error("the request does not find its connection")
		}
		if err := st.sendParts([]byte("<"), []byte(text), []byte(">")); err != nil {
			t.Error(err)
		}
	}))
	web.Listener, web.Config.ConnContext = Connections(web.Listener), ConnContext
	web.Start()
	t.Cleanup(web.Close)
	for i, want := range answers {
		at.Store(int32(i))
		resp, err := web.Client().Get(web.URL)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(got) != "<"+want+">" {
			t.Errorf("of %d bytes came %d (%v)", len(want)+2, len(got), err)
		}
	}
}

type countingListener struct {
	net.Listener
	n *atomic.Int32
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &recordedWrites{Conn: c, n: l.n}, err
}

func TestHold_LongReplyIsOneWrite(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10000")
		st := (&httpRequest{s: s, w: w, r: r}).newStream()
		if err := st.sendParts([]byte(strings.Repeat("x", 10_000))); err != nil {
			t.Error(err)
		}
	}))
	var n atomic.Int32
	web.Listener, web.Config.ConnContext = Connections(countingListener{web.Listener, &n}), ConnContext
	web.Start()
	t.Cleanup(web.Close)
	resp, err := web.Client().Get(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	// A socket writes all buffers at once. Another connection needs two writes: the head with the body's
	// beginning, and the rest.
	if n.Load() != 2 {
		t.Errorf("%d writes", n.Load())
	}
}
