//go:build linux && (amd64 || arm64) && !race

package tcp_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

func TestWriteTogether_KeepsOrder(t *testing.T) {
	t.Parallel()
	ours, other := newPair(t)
	together := ours.(interface{ WriteBuffers(net.Buffers) error })
	whole := distinctBytes(4 << 20)
	var parts net.Buffers
	for rest, n := whole, 1; len(rest) > 0; n = n*2 + 1 {
		n = min(n, len(rest))
		parts, rest = append(parts, rest[:n], nil), rest[n:]
	}
	for range 100 { // more than maxIovecs
		parts = append(parts, []byte("x"))
	}
	whole = append(whole, bytes.Repeat([]byte("x"), 100)...)
	var writing sync.WaitGroup
	writing.Go(func() {
		if err := errors.Join(together.WriteBuffers(nil), together.WriteBuffers(parts)); err != nil {
			t.Error(err)
		}
		_ = ours.Close()
	})
	got, err := io.ReadAll(slowReader{other})
	writing.Wait()
	if err != nil || !bytes.Equal(got, whole) {
		t.Errorf("%d of %d bytes came, or others: %v", len(got), len(whole), err)
	}
}
