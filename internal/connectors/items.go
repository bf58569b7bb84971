package connectors

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"
)

// MaxItemKey bounds a prompt's name and a resource's URI, in bytes.
const MaxItemKey = 4 << 10

var itemKeys = map[ItemKind]string{ItemPrompt: "name", ItemResource: "uri", ItemTemplate: "uriTemplate"}

// ItemKey returns the key of a list entry; nil: none that can be stored.
func ItemKey(kind ItemKind, raw json.RawMessage) *string {
	var fields map[string]json.RawMessage
	var key string
	if json.Unmarshal(raw, &fields) != nil || json.Unmarshal(fields[itemKeys[kind]], &key) != nil {
		return nil
	}
	if key == "" || len(key) > MaxItemKey || strings.ContainsRune(key, 0) {
		return nil
	}
	return &key
}

// ReadItems returns the valid items of one kind in the server's order, one per key. A valid item is an object
// with a storable key.
func ReadItems(kind ItemKind, raws []json.RawMessage) []Item {
	items := make([]Item, 0, len(raws))
	known := map[string]bool{}
	for _, raw := range raws {
		key := ItemKey(kind, raw)
		if key == nil || known[*key] {
			continue
		}
		known[*key] = true
		items = append(items, Item{Kind: kind, Key: *key, Raw: raw})
	}
	return items
}

// HashItems identifies a connector's items and their order; nil: none.
func HashItems(items []Item) *Hash {
	if len(items) == 0 {
		return nil
	}
	h := sha256.New()
	for _, item := range items {
		for _, part := range [][]byte{[]byte(item.Kind), item.Raw} {
			var size [8]byte
			binary.BigEndian.PutUint64(size[:], uint64(len(part)))
			h.Write(size[:])
			h.Write(part)
		}
	}
	hash := Hash(h.Sum(nil))
	return &hash
}
