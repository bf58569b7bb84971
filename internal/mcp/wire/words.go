package wire

import "patchbay/internal/mcp/revision"

// words are the names and texts that most messages are made of, by their length.
var words = func() (table [64][]string) {
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

// word is b as a string, which for one of the words takes no memory.
func word(b []byte) string {
	if len(b) < len(words) {
		for _, w := range words[len(b)] {
			if w == string(b) {
				return w
			}
		}
	}
	return string(b)
}
