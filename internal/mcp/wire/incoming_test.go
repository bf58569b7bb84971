package wire_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp/wire"
)

const call = `{"jsonrpc":"2.0","id":7,"method":"tools\/call","params":{"name":"add","arguments":{"a":9007199254740993, "b":[1]},` +
	`"_meta":{"progressToken":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/logLevel":"info","x":1}}}`

func TestReadIncoming_SlicesOfTheText(t *testing.T) {
	t.Parallel()
	var m wire.Incoming
	if err := wire.ReadIncoming([]byte(" "+call+"\n"), &m); err != nil {
		t.Fatal(err)
	}
	have := map[string]string{
		"raw": string(m.Raw), "jsonrpc": string(m.JSONRPC), "id": string(m.ID), "method": string(m.Method), "name": string(m.Name),
		"arguments": string(m.Arguments), "token": string(m.ProgressToken), "version": string(m.Version), "client": string(m.Client),
		"capabilities": string(m.Capabilities), "level": string(m.LogLevel),
	}
	want := map[string]string{
		"raw": call, "jsonrpc": `"2.0"`, "id": "7", "method": `"tools\/call"`, "name": `"add"`,
		"arguments": `{"a":9007199254740993, "b":[1]}`, "token": `"t"`, "version": `"2026-07-28"`, "client": `{"name":"c"}`,
		"capabilities": "{}", "level": `"info"`,
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	if method, ok := wire.Unquote(m.Method); method != "tools/call" || !ok {
		t.Errorf("method is %q, %v", method, ok)
	}
}

func TestReadIncoming_Continues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		call: false, `{"params":{"requestState":"s"}}`: true, `{"params":{"name":"a","inputResponses":{}}}`: true, `{"params":{"request\u0053tate":null}}`: true,
		`{"params":{"arguments":{"requestState":"s"},"_meta":{"inputResponses":{}},"name":"requestState"},"requestState":1}`: false,
	} {
		var m wire.Incoming
		if err := wire.ReadIncoming([]byte(text), &m); err != nil || m.Continues != want {
			t.Errorf("%s: %v, %t", text, err, m.Continues)
		}
	}
}

func TestReadIncoming_NoMessage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		``: wire.ErrSyntax, `{`: wire.ErrSyntax, `{"a":1}}`: wire.ErrSyntax, `{} {}`: wire.ErrSyntax, `{"a":1,}`: wire.ErrSyntax,
		`[]`: wire.ErrNoMessage, `1`: wire.ErrNoMessage, "{\"params\":\"\xff\"}": wire.ErrUTF8, "{}\x00": wire.ErrSyntax,
	} {
		if err := wire.ReadIncoming([]byte(text), &wire.Incoming{}); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

func TestReadBatch(t *testing.T) {
	t.Parallel()
	all, err := wire.ReadBatch([]byte(`[{"id":1,"method":"a"}, {"method":"b"}]`))
	if err != nil || len(all) != 2 || string(all[0].ID) != "1" || string(all[1].Method) != `"b"` {
		t.Errorf("read %v, %v", all, err)
	}
	for _, text := range []string{`[{}] x`, `[{},]`, `[`, `{}`, `[1]`} {
		if _, err := wire.ReadBatch([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// FuzzIncoming checks that only JSON is read, and that each part that comes out is JSON.
func FuzzIncoming(f *testing.F) {
	f.Add([]byte(call))
	f.Add([]byte(`{"id":"x","result":{}}`))
	f.Add([]byte(`{"params":{"_meta":[]}}`))
	f.Add([]byte(`{"params":[],"method":"\ud83d"}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m wire.Incoming
		err := wire.ReadIncoming(text, &m)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("read what is no JSON: %q", text)
		}
		var generic struct{ Params json.RawMessage }
		if json.Unmarshal(text, &generic) == nil && len(m.Params) > 0 && !json.Valid(m.Params) {
			t.Fatalf("params %q of %q", m.Params, text)
		}
		for _, part := range [][]byte{m.Raw, m.ID, m.Method, m.Params, m.Arguments, m.Meta, m.Version, m.Capabilities} {
			if part != nil && !json.Valid(part) {
				t.Fatalf("%q of %q is no JSON", part, text)
			}
		}
	})
}

func BenchmarkIncoming(b *testing.B) {
	text := []byte(call)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var m wire.Incoming
		if err := wire.ReadIncoming(text, &m); err != nil {
			b.Fatal(err)
		}
	}
}
