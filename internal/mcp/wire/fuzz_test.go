package wire_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp/wire"
)

// FuzzBatch: an accepted batch is JSON, and its messages are its elements.
func FuzzBatch(f *testing.F) {
	f.Add([]byte(`[{"id":1,"method":"a"}, {"method":"b","params":{"_meta":{"progressToken":1}}}]`))
	f.Add([]byte("\t[ ]\n"))
	f.Add([]byte(`[{"result":{}},[{}]]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := wire.ReadBatch(text)
		if err != nil {
			return
		}
		var generic []json.RawMessage
		if err := json.Unmarshal(text, &generic); err != nil || len(generic) != len(all) || !wire.IsBatch(text) {
			t.Fatalf("%d messages of %q: %v", len(all), text, err)
		}
		for i, m := range all {
			if string(m.Raw) != string(generic[i]) {
				t.Errorf("message %d is %q, not %q", i, m.Raw, generic[i])
			}
		}
	})
}

// FuzzHeaderText: encoded text round-trips, and other values are unchanged.
func FuzzHeaderText(f *testing.F) {
	f.Add("=?base64?SGVsbG8=?=")
	f.Add("größe")
	f.Add("=?base64??=")
	f.Fuzz(func(t *testing.T, value string) {
		if text, ok := wire.HeaderText(value); ok && text != value && (!strings.HasPrefix(value, "=?base64?") || !strings.HasSuffix(value, "?=")) {
			t.Errorf("%q is read as %q", value, text)
		}
		encoded := "=?base64?" + base64.StdEncoding.EncodeToString([]byte(value)) + "?="
		if text, ok := wire.HeaderText(encoded); !ok || text != value {
			t.Errorf("%q comes back as %q, %v", value, text, ok)
		}
	})
}

// FuzzMembers: Members agrees with encoding/json.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(` {"content":[{}],"isError" : false,"content":null} `))
	f.Add([]byte(`{"na\u006de":"a","io.modelcontextprotocol/clientInfo":{"name":"\n"}}`))
	f.Add([]byte("\u00a0null\n"))
	f.Add([]byte(`{"a":1} {}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		members, ok := wire.Members(text)
		if wire.IsObject(text) != ok {
			t.Fatalf("Members reads %q: %v, IsObject says otherwise", text, ok)
		}
		if !ok || len(members) == 0 {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		got := map[string]json.RawMessage{}
		for _, m := range members {
			got[m.Name] = m.Value
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	})
}
