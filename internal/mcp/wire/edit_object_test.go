package wire_test

import (
	"testing"

	"patchbay/internal/mcp/wire"
)

func TestEditObjects_ReplacesOnlyFoundObjects(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{`{"content":[ {"uri":"a"}, {"uri":"b" , "x":[1]} ,7],"y":1e2}`, `{"content":[ {"uri":"a"}, {"z":0} ,7],"y":1e2}`},
		{`{"content":[{"uri":"a","uri":"b"}, {"u\u0072i":"\u0062"}]}`, `{"content":[{"z":0}, {"z":0}]}`},
		{`{"content":[{"uri":"\ud800"},{"uri":"b"}]}`, `{"content":[{"uri":"\ud800"},{"z":0}]}`},
		{`{"content":{"uri":"b"}}`, `{"content":{"uri":"b"}}`},
	} {
		found := false
		uris := wire.StringEdits{".content[].uri": func(s string) (string, bool) { found = found || s == "b"; return "", false }}
		got, err := wire.EditObjects([]byte(c[0]), uris, wire.ObjectEdits{".content[]": func([]byte) ([]byte, bool) {
			was := found
			found = false
			return []byte(`{"z":0}`), was
		}})
		if err != nil || string(got) != c[1] {
			t.Errorf("%.200s\nbecame %.200s (%v)", c[0], got, err)
		}
	}
}
