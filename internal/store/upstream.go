package store

import (
	"encoding/json"

	"patchbay/internal/connectors"
)

// encodeUpstream returns the JSON of what a server said; nil: nothing.
func encodeUpstream(u *connectors.Upstream) []byte {
	if u == nil {
		return nil
	}
	stored := *u
	stored.Said = cleanText(stored.Said)
	raw, err := json.Marshal(stored)
	if err != nil {
		panic(err) // numbers and texts always marshal
	}
	return raw
}

// decodeUpstream decodes the output of encodeUpstream. A value that a later version wrote differently counts as none.
func decodeUpstream(raw []byte) *connectors.Upstream {
	var u connectors.Upstream
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil {
		return nil
	}
	return &u
}
