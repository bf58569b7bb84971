package store

import (
	"encoding/binary"
	"encoding/json"

	"github.com/google/uuid"
)

// lostCalls maps calls to the link that recorded them as lost. A crash makes hundreds of thousands, so each
// takes 24 bytes in a JSON string.
type lostCalls map[uuid.UUID]int64

const lostCallSize = 16 + 8

// MarshalJSON implements json.Marshaler.
func (c lostCalls) MarshalJSON() ([]byte, error) {
	packed := make([]byte, 0, len(c)*lostCallSize)
	for id, n := range c {
		packed = append(packed, id[:]...)
		packed = binary.BigEndian.AppendUint64(packed, uint64(n)) //nolint:gosec // positive
	}
	return json.Marshal(packed)
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *lostCalls) UnmarshalJSON(raw []byte) error {
	var packed []byte
	if err := json.Unmarshal(raw, &packed); err != nil {
		return err
	}
	*c = make(lostCalls, len(packed)/lostCallSize)
	for ; len(packed) >= lostCallSize; packed = packed[lostCallSize:] {
		(*c)[uuid.UUID(packed[:16])] = int64(binary.BigEndian.Uint64(packed[16:])) //nolint:gosec // as it was written
	}
	return nil
}
