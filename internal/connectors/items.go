package connectors

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"

	"patchbay/internal/toolchange"
)

// ItemKind is a kind of server feature besides tools.
type ItemKind string

// The kinds.
const (
	ItemPrompt   ItemKind = "prompt"
	ItemResource ItemKind = "resource"
	ItemTemplate ItemKind = "template"
)

// ItemKinds are all kinds.
var ItemKinds = []ItemKind{ItemPrompt, ItemResource, ItemTemplate}

// Item is a prompt, resource or resource template as listed by the server.
type Item struct {
	Kind ItemKind
	Key  string // the name, the URI or the URI template
	Raw  []byte // one JSON object, byte for byte
}

// StoredItem is an item with its times.
type StoredItem struct {
	Item
	FirstSeenAt time.Time
	ChangedAt   time.Time // when its definition was last another one
}

// ItemCounts are the results of a sync for prompts, resources and templates.
type ItemCounts struct {
	Prompts   KindCounts `json:"prompts"`
	Resources KindCounts `json:"resources"`
	Templates KindCounts `json:"templates"`
}

// KindCounts are the results of a sync for one kind of items.
type KindCounts struct {
	Total   int `json:"total"`
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
}

// IsChanged reports whether an item was added, changed or removed.
func (c ItemCounts) IsChanged() bool {
	sum := c.Sum()
	return sum.Added+sum.Changed+sum.Removed > 0
}

// Sum returns the counts over all kinds.
func (c ItemCounts) Sum() KindCounts {
	var sum KindCounts
	for _, kind := range []KindCounts{c.Prompts, c.Resources, c.Templates} {
		sum = KindCounts{sum.Total + kind.Total, sum.Added + kind.Added, sum.Changed + kind.Changed, sum.Removed + kind.Removed}
	}
	return sum
}

// Of returns the counts of one kind.
func (c *ItemCounts) Of(kind ItemKind) *KindCounts {
	switch kind {
	case ItemPrompt:
		return &c.Prompts
	case ItemResource:
		return &c.Resources
	default:
		return &c.Templates
	}
}

// CountItems returns the numbers of items, without differences.
func CountItems(items []Item) ItemCounts {
	var counts ItemCounts
	for _, item := range items {
		counts.Of(item.Kind).Total++
	}
	return counts
}

// ItemView is a parsed item for display: known fields, each as the server spelled it.
type ItemView struct {
	Title       string
	Description string
	Name        string // of a resource or template; a prompt's is its key
	MIMEType    string
	Size        *int64 // of a resource, in bytes; nil: not stated
	Arguments   []PromptArgument
}

// PromptArgument is an argument of a prompt.
type PromptArgument struct {
	Name        string
	Title       string
	Description string
	Required    bool
}

// DecodeItem parses an item. It does not fail: a field of a wrong type is empty. Member names are case-sensitive.
func DecodeItem(raw []byte) ItemView {
	members := toolchange.Members(raw)
	v := ItemView{
		Title: textMember(members, "title"), Description: textMember(members, "description"),
		Name: textMember(members, "name"), MIMEType: textMember(members, "mimeType"),
	}
	_ = json.Unmarshal(members["size"], &v.Size)
	var arguments []json.RawMessage
	_ = json.Unmarshal(members["arguments"], &arguments)
	for _, argument := range arguments {
		fields := toolchange.Members(argument)
		v.Arguments = append(v.Arguments, PromptArgument{
			Name: textMember(fields, "name"), Title: textMember(fields, "title"),
			Description: textMember(fields, "description"), Required: string(fields["required"]) == "true",
		})
	}
	return v
}

func textMember(members map[string]json.RawMessage, name string) (text string) {
	_ = json.Unmarshal(members[name], &text)
	return text
}

// Matches reports whether the item's key, name, title or description contains a text, in any case.
func (i Item) Matches(text string) bool {
	v := DecodeItem(i.Raw)
	text = strings.ToLower(text)
	for _, field := range []string{i.Key, v.Name, v.Title, v.Description} {
		if strings.Contains(strings.ToLower(field), text) {
			return true
		}
	}
	return false
}

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
