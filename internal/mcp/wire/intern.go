package wire

import "patchbay/internal/mcp/revision"

// internTable holds the common names and values by length.
var internTable = func() (table [64][]string) {
	for _, w := range []string{
		"name", "arguments", "_meta",
		"content", "structuredContent", "isError", "resultType", "complete",
		"tools/call", "tools/list", revision.Modern.Offer(), revision.Handshake.Offer(),
		revision.MetaVersion, revision.MetaClient, revision.MetaCapabilities, revision.MetaServer, revision.MetaLogLevel, revision.MetaProgress,
		"traceparent", "tracestate",
	} {
		table[len(w)] = append(table[len(w)], w)
	}
	return table
}()

// internString returns b as a string, without an allocation for common ones.
func internString(b []byte) string {
	if len(b) < len(internTable) {
		for _, w := range internTable[len(b)] {
			if w == string(b) {
				return w
			}
		}
	}
	return string(b)
}
