package blocks_test

import (
	"bytes"
	"math"
	"runtime"
	"testing"

	"golang.org/x/sys/cpu"

	"patchbay/internal/mcp/blocks"
)

// Every byte is tested at every position of three blocks, and at each edge of memory.
func TestSkip_StopsAtBlockWithStopByte(t *testing.T) {
	t.Parallel()
	runs := runtime.GOARCH == "amd64" && cpu.X86.HasAVX2
	for _, c := range []struct {
		x, y  byte
		least int8
	}{{'"', '\\', ' '}, {'\n', '\r', math.MinInt8}} {
		for _, length := range []int{0, 1, 63, 64, 65, 127, 128, 200} {
			b := bytes.Repeat([]byte("a"), length)
			for at := range length {
				for v := range 256 {
					b[at] = byte(v)
					want := length / blocks.Size * blocks.Size
					if b[at] == c.x || b[at] == c.y || int8(b[at]) < c.least {
						want = min(want, at/blocks.Size*blocks.Size)
					}
					if !runs {
						want = 0
					}
					if n := blocks.Skip(b[:length:length], c.x, c.y, c.least); n != want {
						t.Fatalf("%#x at %d of %d: %d, not %d", v, at, length, n, want)
					}
				}
				b[at] = 'a'
			}
		}
	}
}

// The baseline is bytes.IndexByte for one of the two line ends.
func BenchmarkSkip(b *testing.B) {
	text := bytes.Repeat([]byte("Some words. "), 100<<10/12)
	for name, do := range map[string]func() bool{
		"floor: IndexByte": func() bool { return bytes.IndexByte(text, '\n') < 0 },
		"Skip":             func() bool { return len(text)-blocks.Skip(text, '\n', '\r', math.MinInt8) < blocks.Size },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if !do() {
					b.Fatal("not passed over")
				}
			}
		})
	}
}
