package mcptest

import (
	"encoding/json"
	"net/http"
)

// Script says how a server behaves. The zero value answers with JSON, has no sessions and lists no tools.
type Script struct {
	Tools     []string // entries of the tool list, raw JSON
	PageSize  int      // tools a page; 0: all on one
	Stream    bool     // answer with event streams
	Version   string   // protocol version that initialize answers; empty: the one asked for
	SessionID string   // handed out by initialize and asked for afterwards; empty: no sessions
	Modern    bool     // speak MCP 2026-07-28 and nothing older; Version and SessionID mean nothing then
	Bearer    string   // token that every request must carry; empty: none
	// Capabilities are what the server says that it has, as JSON; empty: tools.
	Capabilities string
	// On replaces the answer to one JSON-RPC method, or to an HTTP method other than POST ("DELETE").
	On map[string]Handler
}

// Handler answers one call.
type Handler func(w http.ResponseWriter, r *http.Request, c Call)

// Call is a request that the server received.
type Call struct {
	Method string          // of JSON-RPC, or the HTTP method where that is not POST; empty: a reply to a request of ours
	ID     json.RawMessage // nil: a notification
	Params json.RawMessage
	Result json.RawMessage // of a reply
	Error  json.RawMessage // of a reply
	Header http.Header
	Path   string
	N      int // how many calls of this method there were, this one included
}
