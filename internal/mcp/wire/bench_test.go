package wire_test

import (
	"strings"
	"testing"

	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/mcp/wire"
)

func BenchmarkFindPage(b *testing.B) {
	text := []byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[` + strings.Join(mcptest.Tools(100), ",") + `]}}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if reply, err := findPage(text, 1); err != nil || len(reply.Page.Entries) != 100 {
			b.Fatal(err)
		}
	}
}

// A reply with one long text, as most tool results are.
func BenchmarkFindLong(b *testing.B) {
	reply := wire.Result([]byte("1"), []byte(`{"content":[{"type":"text","text":"`+strings.Repeat("Some words. ", 100<<10/12)+`"}]}`))
	b.SetBytes(int64(len(reply)))
	b.ReportAllocs()
	for b.Loop() {
		if found, err := wire.Find(reply, 1); err != nil || len(found.Result) < 100<<10-100 {
			b.Fatal(found, err)
		}
	}
}

// The reading and writing of one tools/call: client request, its _meta, our request, its reply.
func BenchmarkOneCall(b *testing.B) {
	const client = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"agent","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{}}`
	asked := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search_documents","arguments":{"query":"some words","limit":10},"_meta":` + client + `}}`)
	reply := wire.Result([]byte("1"), []byte(`{"content":[{"type":"text","text":"`+strings.Repeat("Some words. ", 1<<10/12)+`"}],"resultType":"complete"}`))
	b.ReportAllocs()
	for b.Loop() {
		var in wire.Incoming
		if err := wire.ReadIncoming(asked, &in); err != nil {
			b.Fatal(err)
		}
		name, _ := wire.Unquote(in.Name)
		meta, ok := wire.Members(in.Meta)
		if method, _ := wire.Unquote(in.Method); !ok || method != "tools/call" {
			b.Fatal(method, meta)
		}
		out := wire.RequestWith(1, "tools/call", []wire.Member{{Name: "name", Value: wire.Text(name)}, {Name: "arguments", Value: in.Arguments}}, meta)
		found, err := wire.Finder{ID: 1, Fields: true}.Find(reply)
		if err != nil || len(found.Fields) != 2 || len(out) < len(client) {
			b.Fatal(found, err)
		}
	}
}
