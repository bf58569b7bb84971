package toolfmt_test

import (
	"fmt"
	"testing"

	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/mcp/toolfmt"
)

// BenchmarkDefinitions converts 1 000 tools of about 1 KB for each provider.
func BenchmarkDefinitions(b *testing.B) {
	tools := make([]toolfmt.Tool, 0, 1000)
	for _, raw := range mcptest.Tools(1000) {
		tools = append(tools, parseTool(b, []byte(raw)))
	}
	for _, format := range formats {
		b.Run(string(format), func(b *testing.B) {
			b.ReportAllocs()
			bytes := 0
			for b.Loop() {
				bytes = 0
				for _, raw := range toolfmt.Definitions(format, tools) {
					bytes += len(raw)
				}
			}
			if bytes < 100_000 {
				b.Fatal(fmt.Sprint(bytes))
			}
			b.SetBytes(int64(bytes))
		})
	}
}
