package store

import (
	"encoding/binary"
	"encoding/json"

	"github.com/google/uuid"
)

// lostCalls are calls, and which link of the chain says of each that it was lost. A hard stop makes hundreds of thousands of them: as JSON they are
// a string of 24 bytes each.
type lostCalls map[uuid.UUID]int64

const lostCallSize = 16 + 8

// MarshalJSON writes them.
func (c lostCalls) MarshalJSON() ([]byte, error) {
	packed := make([]byte, 0, len(c)*lostCallSize)
	for id, n := range c {
		packed = append(packed, id[:]...)
		packed = binary.BigEndian.AppendUint64(packed, uint64(n)) //nolint:gosec // positive
	}
	return json.Marshal(packed)
}

// UnmarshalJSON reads them.
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
