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

// writes counts the writes that reach a connection.
type writes struct {
	net.Conn
	n *atomic.Int32
}

func (w *writes) Write(p []byte) (int, error) {
	w.n.Add(1)
	return w.Conn.Write(p)
}

func TestWhatIsHeldLeavesInOrderAndStaysWhatItWas(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	out := &writes{Conn: near, n: new(atomic.Int32)}
	c := &conn{Conn: out}
	long, short := []byte(strings.Repeat("long ", 2000)), []byte("short ")
	for range 3 { // a connection serves many requests
		c.Hold()
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
		go func() { done <- c.Let() }()
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

func TestAHeldConnectionSaysThatItIsBroken(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	c := &conn{Conn: near}
	c.Hold()
	if _, err := c.Write([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	_ = far.Close()
	if err := c.Let(); err == nil {
		t.Error("nobody hears of it")
	}
	c.Hold() // nothing of that is left
	if err := c.Let(); err != nil {
		t.Error(err)
	}
}

func TestAnswersOfEveryLengthArriveWhole(t *testing.T) {
	t.Parallel()
	answers := []string{}
	for _, n := range []int{0, 1, leastHeld - 1, leastHeld, heldCopied - 1, heldCopied, heldCopied + 1, 10_000, mostCopied, mostHeld - 1, mostHeld, mostHeld + 1, 1 << 20} {
		answers = append(answers, strings.Repeat("x", n))
	}
	s := New(Options{})
	var at atomic.Int32
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := answers[at.Load()]
		st := (&visit{s: s, w: w, r: r}).reply()
		if st.held == nil {
			t.Error("the request does not find its connection")
		}
		if err := st.send([]byte("<"), []byte(text), []byte(">")); err != nil {
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

// counted is a listener whose connections count their writes together.
type counted struct {
	net.Listener
	n *atomic.Int32
}

func (l counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &writes{Conn: c, n: l.n}, err
}

func TestALongAnswerIsOneWrite(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10000")
		st := (&visit{s: s, w: w, r: r}).reply()
		if err := st.send([]byte(strings.Repeat("x", 10_000))); err != nil {
			t.Error(err)
		}
	}))
	var n atomic.Int32
	web.Listener, web.Config.ConnContext = Connections(counted{web.Listener, &n}), ConnContext
	web.Start()
	t.Cleanup(web.Close)
	resp, err := web.Client().Get(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	// A socket takes all pieces in one write. Another connection gets one each: the head with the body's beginning, and its rest.
	if n.Load() != 2 {
		t.Errorf("%d writes", n.Load())
	}
}
