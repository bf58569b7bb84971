package toolchange

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"hash"
	"strconv"
)

// valueHash is a hash that only equal values share.
type valueHash [sha256.Size]byte

// hashValue returns the hash of a decoded value; an arbitrary one if the work is exhausted.
func (w *work) hashValue(v any) (sum valueHash) {
	if !w.spendUnits(entryWork * 8) { // the state of the hash and the buffer
		return sum
	}
	h := valueHasher{work: w, hash: sha256.New()}
	h.out = bufio.NewWriterSize(h.hash, 256)
	h.writeValue(v)
	_ = h.out.Flush() // a hash never fails
	h.hash.Sum(sum[:0])
	return sum
}

// valueKey returns a comparable key that only equal values share: a scalar itself, or a hash.
func (w *work) valueKey(v any) any {
	if isScalar(v) {
		return v
	}
	return w.hashValue(v)
}

// valueHasher writes values unambiguously: each has a tag, and its length where that varies.
type valueHasher struct {
	work *work
	hash hash.Hash
	out  *bufio.Writer
}

func (h *valueHasher) writeValue(v any) {
	if !h.work.spendUnits(2 * valueWork) {
		return
	}
	switch v := v.(type) {
	case nil:
		_ = h.out.WriteByte('0')
	case bool:
		_, _ = h.out.WriteString(strconv.FormatBool(v))
	case json.Number:
		h.writeText('n', v.String())
	case string:
		h.writeText('s', v)
	case []any:
		h.writeLength('a', len(v))
		for _, item := range v {
			h.writeValue(item)
		}
	case map[string]any:
		h.writeLength('o', len(v))
		for _, name := range h.work.memberNames(v, nil) {
			h.writeText('s', name)
			h.writeValue(v[name])
		}
	}
}

func (h *valueHasher) writeText(tag byte, text string) {
	h.work.spendUnits(len(text))
	h.writeLength(tag, len(text))
	_, _ = h.out.WriteString(text)
}

// writeLength writes a tag and a length. Errors of out are those of the hash, which has none.
func (h *valueHasher) writeLength(tag byte, length int) {
	_ = h.out.WriteByte(tag)
	_, _ = h.out.Write(strconv.AppendInt(h.out.AvailableBuffer(), int64(length), 10))
	_ = h.out.WriteByte(':')
}
