//go:build linux && (amd64 || arm64) && !race

package tcp_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"patchbay/internal/fasthttp/tcp"
)

// patience ends a hanging test.
const patience = 30 * time.Second

// newAskPair returns a pair of connections, one of which has WriteIfIdle, with a deadline of patience.
func newAskPair(t *testing.T) (ours interface {
	net.Conn
	syscall.Conn
	WriteIfIdle(p []byte) (int, error)
}, other *net.TCPConn) {
	t.Helper()
	made, other := newPair(t)
	ours = made.(interface { //nolint:forcetypeassert // it is one here
		net.Conn
		syscall.Conn
		WriteIfIdle(p []byte) (int, error)
	})
	_ = ours.SetDeadline(time.Now().Add(patience))
	return ours, other
}

// A response may arrive during the write of the request, right after it, or late, and in two parts.
func TestAsk_MissesNoResponse(t *testing.T) {
	t.Parallel()
	var asking sync.WaitGroup
	for range 8 {
		ours, other := newAskPair(t)
		asking.Go(func() {
			for in := bufio.NewReader(other); ; {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				_, _ = io.WriteString(other, line[:1])
				_, _ = io.WriteString(other, line[1:])
			}
		})
		asking.Go(func() {
			defer func() { _ = other.Close() }()
			question := []byte("what?\n")
			answer := make([]byte, len(question))
			for range 3000 {
				if n, err := ours.WriteIfIdle(question); n != len(question) || err != nil {
					t.Errorf("%d bytes written: %v", n, err)
					return
				}
				if _, err := io.ReadFull(ours, answer); err != nil || string(answer) != string(question) {
					t.Errorf("%q: %v", answer, err)
					return
				}
			}
		})
	}
	asking.Wait()
}

func TestAsk_FailsIfNotSilent(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]func(*net.TCPConn){
		"spoken":            func(c *net.TCPConn) { _, _ = io.WriteString(c, "x") },
		"ended its side":    func(c *net.TCPConn) { _ = c.CloseWrite() },
		"spoken, and ended": func(c *net.TCPConn) { _, _ = io.WriteString(c, "x"); _ = c.CloseWrite() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, other := newAskPair(t)
			does(other)
			raw, err := ours.SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			// The poller reports the data once, which is consumed here.
			if err := raw.Read(func(fd uintptr) bool { return !errors.Is(tcp.Peek(fd), syscall.EAGAIN) }); err != nil {
				t.Fatal(err)
			}
			if n, err := ours.WriteIfIdle([]byte("what?")); n != 0 || !errors.Is(err, tcp.ErrNotIdle) {
				t.Errorf("%d bytes written: %v", n, err)
			}
			_ = ours.(interface{ CloseWrite() error }).CloseWrite() //nolint:forcetypeassert // it is TCP
			_ = other.SetReadDeadline(time.Now().Add(patience))
			if heard, err := io.ReadAll(other); len(heard) > 0 || err != nil {
				t.Errorf("%q arrived: %v", heard, err)
			}
		})
	}
}

func TestAsk_LongRequestToSlowReader(t *testing.T) {
	t.Parallel()
	ours, other := newAskPair(t)
	question := distinctBytes(8 << 20)
	var answering sync.WaitGroup
	answering.Go(func() {
		heard := make([]byte, len(question))
		if _, err := io.ReadFull(slowReader{other}, heard); err != nil || string(heard) != string(question) {
			t.Errorf("another question arrived: %v", err)
		}
		_, _ = io.WriteString(other, "that")
	})
	n, err := ours.WriteIfIdle(question)
	if n != len(question) || err != nil {
		t.Errorf("%d of %d bytes written: %v", n, len(question), err)
	}
	answer := make([]byte, 4)
	if _, err := io.ReadFull(ours, answer); err != nil || string(answer) != "that" {
		t.Errorf("%q: %v", answer, err)
	}
	answering.Wait()
}

func TestAsk_PeerClosesInsteadOfResponding(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*net.TCPConn){
		"closed": func(c *net.TCPConn) { _, _ = io.ReadFull(c, make([]byte, 5)); _ = c.Close() },
		"reset":  func(c *net.TCPConn) { _, _ = io.ReadFull(c, make([]byte, 5)); _ = c.SetLinger(0); _ = c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, other := newAskPair(t)
			var leaving sync.WaitGroup
			leaving.Go(func() { leave(other) })
			if n, err := ours.WriteIfIdle([]byte("what?")); n != 5 || err != nil {
				t.Errorf("%d bytes written: %v", n, err)
			}
			if n, err := ours.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%d bytes, %v", n, err)
			}
			leaving.Wait()
		})
	}
}

func TestAsk_EndsAtDeadline(t *testing.T) {
	t.Parallel()
	ours, other := newAskPair(t)
	heard := make(chan string, 1)
	go func() {
		question := make([]byte, 5)
		_, _ = io.ReadFull(other, question)
		heard <- string(question)
		_ = ours.SetDeadline(time.Unix(1, 0))
	}()
	for i, want := range []int{5, 0} {
		n, err := ours.WriteIfIdle([]byte("what?"))
		if n != want || !errors.Is(err, os.ErrDeadlineExceeded) || !strings.HasPrefix(err.Error(), "write tcp ") {
			t.Errorf("%d: %d bytes written, %v", i, n, err)
		}
	}
	if got := <-heard; got != "what?" {
		t.Errorf("%q arrived", got)
	}
}
