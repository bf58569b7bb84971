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
		if reply, err := wire.FindPage(text, 1); err != nil || len(reply.Page.Entries) != 100 {
			b.Fatal(err)
		}
	}
}

// A reply that is one long text, as most results of tools are.
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
