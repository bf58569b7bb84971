package store

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/s2"

	"patchbay/internal/connectors"
)

// What the history keeps of a result stands packed where that saves something: the length of its content as a varint, and then content and
// structured, one behind the other, as a block of S2. PostgreSQL would compress what is long too, after it has copied it six times.
const (
	packedFrom = 512                            // bytes: of less there is little to be saved
	mostPacked = 8 * connectors.MaxHistoryBytes // more than redaction makes of what is kept: such are left as they are, and are not unpacked
)

var errPacked = errors.New("a packed result is not of this form")

// packer packs results, in memory that it uses again, and keeps what came of them together.
type packer struct{ joined, block, kept []byte }

// pack is nil where the result is better left as it is.
func (p *packer) pack(content, structured []byte) []byte {
	whole := content
	if n := len(content) + len(structured); n < packedFrom || n > mostPacked {
		return nil
	}
	if len(structured) > 0 {
		p.joined = append(append(p.joined[:0], content...), structured...)
		whole = p.joined
	}
	if most := s2.MaxEncodedLen(len(whole)); cap(p.block) < most {
		p.block = make([]byte, most)
	}
	block := s2.Encode(p.block[:cap(p.block)], whole)
	if len(block) > len(whole)*7/8 {
		return nil
	}
	if need := binary.MaxVarintLen64 + len(block); cap(p.kept)-len(p.kept) < need {
		p.kept = make([]byte, 0, max(need, 64<<10)) // what stands in the one before stays there
	}
	from := len(p.kept)
	p.kept = append(binary.AppendUvarint(p.kept, uint64(len(content))), block...)
	return p.kept[from:len(p.kept):len(p.kept)]
}

// unpack is what was packed. A part that was empty is nil.
func unpack(packed []byte) (content, structured []byte, err error) {
	n, at := binary.Uvarint(packed)
	if at <= 0 {
		return nil, nil, errPacked
	}
	if length, err := s2.DecodedLen(packed[at:]); err != nil || length > mostPacked || n > uint64(length) { //nolint:gosec // no length is negative
		return nil, nil, errPacked
	}
	whole, err := s2.Decode(nil, packed[at:])
	if err != nil {
		return nil, nil, errors.Join(errPacked, err)
	}
	if n > 0 {
		content = whole[:n:n]
	}
	if n < uint64(len(whole)) {
		structured = whole[n:]
	}
	return content, structured, nil
}
