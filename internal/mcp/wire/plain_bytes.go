package wire

import (
	"encoding/binary"

	"patchbay/internal/mcp/blocks"
)

// countPlainBytes counts the leading bytes that need no escape and are ASCII. Most strings are short, so the
// first bytes are checked one by one, then whole blocks, then words of eight.
func countPlainBytes(b []byte) (n int) {
	const few = 16
	for short := b[:min(few, len(b))]; n < len(short); n++ {
		if !isPlain[short[n]] {
			return n
		}
	}
	n += blocks.Skip(b[n:], '"', '\\', ' ')
	for len(b)-n >= 4*8 {
		four := b[n : n+4*8 : n+4*8]
		if (markSpecialBytes(binary.LittleEndian.Uint64(four))|markSpecialBytes(binary.LittleEndian.Uint64(four[8:]))|
			markSpecialBytes(binary.LittleEndian.Uint64(four[16:]))|markSpecialBytes(binary.LittleEndian.Uint64(four[24:])))&highBits != 0 {
			break
		}
		n += 4 * 8
	}
	for len(b)-n >= 8 && markSpecialBytes(binary.LittleEndian.Uint64(b[n:]))&highBits == 0 {
		n += 8
	}
	for n < len(b) && isPlain[b[n]] {
		n++
	}
	return n
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// markSpecialBytes sets the top bit of each byte of w that is a quote, a backslash, a control character or not
// ASCII. Bytes above such a byte may be marked too.
func markSpecialBytes(w uint64) uint64 {
	return (w - lowBits*' ') | ((w ^ lowBits*'"') - lowBits) | ((w ^ lowBits*'\\') - lowBits) | w
}
