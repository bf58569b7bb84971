package mcp_test

import (
	"fmt"
	"testing"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

// One whole conversation with a server in the same process: handshake, list, end.
func BenchmarkListTools(b *testing.B) {
	for _, tools := range []int{20, 100} {
		for _, stream := range []bool{false, true} {
			kind := map[bool]string{false: "json", true: "sse"}[stream]
			b.Run(fmt.Sprintf("%d/%s", tools, kind), func(b *testing.B) {
				up := mcptest.Start(b, mcptest.Script{Tools: mcptest.Tools(tools), SessionID: "s", Stream: stream})
				c := newClient(b)
				b.ReportAllocs()
				for b.Loop() {
					_, list, err := c.sync(b, mcp.Target{URL: up.URL})
					if err != nil || len(list.Tools) != tools {
						b.Fatalf("%d tools, error %v", len(list.Tools), err)
					}
				}
			})
		}
	}
}
