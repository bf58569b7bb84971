package store

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/s2"

	"patchbay/internal/connectors"
)

// Stored results are packed if that saves space: the content's length as a varint, then content and structured
// as one S2 block. PostgreSQL would compress long values too, after copying them six times.
const (
	minPacked = 512                            // bytes; shorter results save little
	maxPacked = 8 * connectors.MaxHistoryBytes // above the bound of kept results: longer ones are stored as they are, and never unpacked
)

var errPacked = errors.New("a packed result is malformed")

// packer packs results in reused buffers. The packed results share output.
type packer struct{ joined, block, output []byte }

// packResult returns nil if packing does not pay.
func (p *packer) packResult(content, structured []byte) []byte {
	whole := content
	if n := len(content) + len(structured); n < minPacked || n > maxPacked {
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
	if need := binary.MaxVarintLen64 + len(block); cap(p.output)-len(p.output) < need {
		p.output = make([]byte, 0, max(need, 64<<10)) // results in the old buffer stay valid
	}
	from := len(p.output)
	p.output = append(binary.AppendUvarint(p.output, uint64(len(content))), block...)
	return p.output[from:len(p.output):len(p.output)]
}

// unpackResult reverses packResult. An empty part is nil.
func unpackResult(packed []byte) (content, structured []byte, err error) {
	n, at := binary.Uvarint(packed)
	if at <= 0 {
		return nil, nil, errPacked
	}
	if length, err := s2.DecodedLen(packed[at:]); err != nil || length > maxPacked || n > uint64(length) { //nolint:gosec // no length is negative
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
