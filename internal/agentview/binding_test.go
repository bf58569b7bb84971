package agentview

import "testing"

func TestDefinition_AgentsDoNotSeeTheBinding(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][2]string{
		`{"name":"a","patchbay/http":{"v":1},"inputSchema":{"type":"object"}}`: {`{"name":"a","inputSchema":{"type":"object"}}`, `{"v":1}`},
		`{"patchbay/http":{"v":1}}`:                                {`{}`, `{"v":1}`},
		`{"name":"the \"patchbay/http\" member","inputSchema":{}}`: {`{"name":"the \"patchbay/http\" member","inputSchema":{}}`, ""},
	} {
		d := newDefinition([32]byte{1}, []byte(raw))
		if string(d.raw) != want[0] || string(d.binding) != want[1] {
			t.Errorf("%s is %s with the binding %s", raw, d.raw, d.binding)
		}
	}
}
