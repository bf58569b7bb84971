package connectors_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"patchbay/internal/connectors"
)

// FuzzItems checks that exactly the items with a storable key are returned, one per key, unchanged.
func FuzzItems(f *testing.F) {
	for _, seed := range []string{
		`[{"name":"a","uri":"file:///a","uriTemplate":"file:///{a}"},{"name":"a","title":"again"}]`, `[{"name":"a\u0000"},{"Name":"b"},{"name":null},{"name":7},[],null,"x"]`,
		`[{"name":"a","name":"b"},{"n\u0061me":"b"},{"name":"\ud800"}]`, `[{"uri":""}]`, `[{"uri":"` + strings.Repeat("a", connectors.MaxItemKey+1) + `"}]`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	keys := map[connectors.ItemKind]string{connectors.ItemPrompt: "name", connectors.ItemResource: "uri", connectors.ItemTemplate: "uriTemplate"}
	f.Fuzz(func(t *testing.T, list []byte) {
		var raws []json.RawMessage
		if json.Unmarshal(list, &raws) != nil {
			return
		}
		for kind, name := range keys {
			items := connectors.ReadItems(kind, raws)
			known, next := map[string]bool{}, 0
			for _, item := range items {
				var has map[string]any
				if json.Unmarshal(item.Raw, &has) != nil || has[name] != item.Key || item.Kind != kind || known[item.Key] {
					t.Errorf("%q is listed as %q", item.Raw, item.Key)
				}
				known[item.Key] = true
				if item.Key == "" || len(item.Key) > connectors.MaxItemKey || !utf8.ValidString(item.Key) || strings.ContainsRune(item.Key, 0) {
					t.Errorf("%q is a key", item.Key)
				}
				for next < len(raws) && string(raws[next]) != string(item.Raw) {
					next++
				}
				if next == len(raws) {
					t.Fatalf("%q is out of order, or nothing of %q", item.Raw, list)
				}
			}
			if left := findMissing(raws, name, known); left != "" {
				t.Errorf("%q of %q is left out", left, list)
			}
			if (connectors.HashItems(items) == nil) != (len(items) == 0) {
				t.Errorf("%q has no hash", list)
			}
		}
	})
}

// findMissing returns a storable key that is not in known; "": none.
func findMissing(raws []json.RawMessage, name string, known map[string]bool) string {
	for _, raw := range raws {
		var has map[string]any
		_ = json.Unmarshal(raw, &has)
		key, _ := has[name].(string)
		if key != "" && len(key) <= connectors.MaxItemKey && !strings.ContainsRune(key, 0) && !known[key] {
			return key
		}
	}
	return ""
}
