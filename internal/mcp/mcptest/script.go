package mcptest

import (
	"encoding/json"
	"net/http"
)

// Script defines a server's behaviour. The zero value responds with JSON, without sessions or tools.
type Script struct {
	Tools     []string // entries of the tool list, raw JSON
	PageSize  int      // tools per page; 0: one page
	Stream    bool     // respond with event streams
	Version   string   // in the result of initialize; empty: the requested one
	SessionID string   // sent by initialize and required afterwards; empty: no sessions
	Modern    bool     // MCP 2026-07-28 only; Version and SessionID are unused
	Bearer    string   // required token; empty: none
	// Capabilities are the server's, as JSON; empty: tools.
	Capabilities string
	// Icons are those of serverInfo, a JSON array; empty: none.
	Icons string
	// On replaces the handling of a JSON-RPC method, or of an HTTP method other than POST ("DELETE").
	On map[string]Handler
}

// Handler handles one call.
type Handler func(w http.ResponseWriter, r *http.Request, c Call)

// Call is a request that the server received.
type Call struct {
	Method string          // of JSON-RPC, or of HTTP if that is not POST; empty: a reply to our request
	ID     json.RawMessage // nil: a notification
	Params json.RawMessage
	Result json.RawMessage // of a reply
	Error  json.RawMessage // of a reply
	Header http.Header
	Path   string
	N      int // number of calls of this method so far, including this one
}
