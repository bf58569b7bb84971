package tcp_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"patchbay/internal/fasthttp/tcp"
)

// newPair returns a direct connection and its peer.
func newPair(t *testing.T) (ours net.Conn, other *net.TCPConn) {
	t.Helper()
	var on net.ListenConfig
	l, err := on.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var to net.Dialer
	made, err := to.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	came, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = made.Close(), came.Close() })
	return tcp.WrapConn(made), came.(*net.TCPConn) //nolint:forcetypeassert // it listens on TCP
}

func TestWrite_CompleteWithSlowReader(t *testing.T) {
	t.Parallel()
	ours, other := newPair(t)
	sent := distinctBytes(8 << 20)
	var writing sync.WaitGroup
	writing.Go(func() {
		if n, err := ours.Write(sent); n != len(sent) || err != nil {
			t.Errorf("wrote %d of %d: %v", n, len(sent), err)
		}
		_ = ours.Close()
	})
	got, err := io.ReadAll(slowReader{other})
	writing.Wait()
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes came, or others: %v", len(got), len(sent), err)
	}
}

func TestRead_WaitsAndReturnsEOF(t *testing.T) {
	t.Parallel()
	ours, other := newPair(t)
	sent := distinctBytes(1 << 20)
	var writing sync.WaitGroup
	writing.Go(func() {
		for rest := sent; len(rest) > 0; {
			n := min(len(rest), 60_001)
			if _, err := other.Write(rest[:n]); err != nil {
				t.Error(err)
			}
			rest = rest[n:]
		}
		_ = other.CloseWrite()
	})
	got, err := io.ReadAll(ours)
	writing.Wait()
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes came, or others: %v", len(got), len(sent), err)
	}
	if n, err := ours.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %d, %v", n, err)
	}
	if n, err := ours.Read(nil); n != 0 || err != nil {
		t.Errorf("nothing is read at once: %d, %v", n, err)
	}
}

func TestDeadline_EndsReadsAndWritesAsInNet(t *testing.T) {
	t.Parallel()
	ours, _ := newPair(t)
	_ = ours.SetDeadline(time.Unix(1, 0))
	_, reading := ours.Read(make([]byte, 1))
	_, writing := ours.Write(distinctBytes(1))
	for what, err := range map[string]error{"read": reading, "write": writing} {
		failed, ok := errors.AsType[net.Error](err)
		if !ok || !failed.Timeout() || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v is no timeout", what, err)
		}
	}
}

func TestClose_EndsPendingCalls(t *testing.T) {
	t.Parallel()
	ours, _ := newPair(t)
	ended := make(chan error, 2)
	go func() {
		_, err := ours.Read(make([]byte, 1))
		ended <- err
	}()
	go func() {
		_, err := ours.Write(distinctBytes(64 << 20)) // without a reader
		ended <- err
	}()
	_ = ours.Close()
	for range 2 {
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("%v, and not that it is closed", err)
		}
	}
}

func TestReset_HasErrorOfNet(t *testing.T) {
	t.Parallel()
	ours, other := newPair(t)
	_ = other.SetLinger(0)
	_ = other.Close()
	_, err := ours.Read(make([]byte, 1))
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("%v, and not that it was reset", err)
	}
	want := "read tcp " + ours.LocalAddr().String() + "->" + ours.RemoteAddr().String() + ": read: connection reset by peer"
	if op.Error() != want {
		t.Errorf("%q, not %q", op.Error(), want)
	}
}

func TestDirect_LeavesOtherConnsUnchanged(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer func() { _, _ = a.Close(), b.Close() }()
	if tcp.WrapConn(a) != a {
		t.Error("it became another")
	}
}

// slowReader reads at most 3001 bytes at a time.
type slowReader struct{ r io.Reader }

func (s slowReader) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), 3001)]) }

// distinctBytes returns n bytes without short repetitions.
func distinctBytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(uint32(i) * 2654435761 >> 13)
	}
	return b
}
