package wire

import (
	"encoding/binary"

	"patchbay/internal/mcp/blocks"
)

// plainBytes is how many bytes b begins with that stand for themselves: the first ones are looked at one by one, for most strings
// are short, then as many as there are in whole blocks, and the others in words of eight.
func plainBytes(b []byte) (n int) {
	const few = 16
	for short := b[:min(few, len(b))]; n < len(short); n++ {
		if !plain[short[n]] {
			return n
		}
	}
	n += blocks.Skip(b[n:], '"', '\\', ' ')
	for len(b)-n >= 4*8 {
		four := b[n : n+4*8 : n+4*8]
		if (special(binary.LittleEndian.Uint64(four))|special(binary.LittleEndian.Uint64(four[8:]))|
			special(binary.LittleEndian.Uint64(four[16:]))|special(binary.LittleEndian.Uint64(four[24:])))&tops != 0 {
			break
		}
		n += 4 * 8
	}
	for len(b)-n >= 8 && special(binary.LittleEndian.Uint64(b[n:]))&tops == 0 {
		n += 8
	}
	for n < len(b) && plain[b[n]] {
		n++
	}
	return n
}

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// special has a top bit set where a byte of w is a quote, a backslash, below a blank, or not ASCII; and perhaps behind such a byte.
func special(w uint64) uint64 {
	return (w - ones*' ') | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones) | w
}
