//go:build unix

package tcp_test

import (
	"errors"
	"syscall"
	"testing"

	"patchbay/internal/fasthttp/tcp"
)

func TestPeek_ConsumesNothing(t *testing.T) {
	t.Parallel()
	ours, other := newPair(t)
	raw, err := ours.(syscall.Conn).SyscallConn() //nolint:forcetypeassert // it is one here
	if err != nil {
		t.Fatal(err)
	}
	var seen error
	look := func(fd uintptr) bool {
		seen = tcp.Peek(fd)
		return true
	}
	if err := raw.Read(look); err != nil || !errors.Is(seen, syscall.EAGAIN) {
		t.Errorf("nothing came: %v, %v", err, seen)
	}
	if _, err := other.Write([]byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := raw.Read(func(fd uintptr) bool { return look(fd) && seen == nil }); err != nil || seen != nil {
		t.Errorf("something came: %v, %v", err, seen)
	}
	one := make([]byte, 1)
	if _, err := ours.Read(one); err != nil || one[0] != 'a' {
		t.Errorf("read %q: %v", one, err)
	}
}
