package connectors

import (
	"encoding/json"
	"time"
)

// Bounds of an HTTP API.
const (
	MaxAPIDocument = 16 << 20 // bytes
	MaxAPITools    = 1000     // of a connector
	MaxAPIFilter   = 4096     // bytes
	MaxAPIPages    = 20       // of a call
)

// APIDocument is the document of an HTTP API, as it was read last.
type APIDocument struct {
	IsFetched bool   // from the connector's URL; else a person uploaded it
	ETag      string // empty: none
	Body      []byte
	Hash      [32]byte // SHA-256 of Body
	Size      int      // of Body, in bytes
	ReadAt    time.Time
	Seen      []string // keys of the operations that it had when a person picked last
}

// APITool is a tool of an HTTP API: an operation of the document that a person picked, or an endpoint.
type APITool struct {
	Key      string          // "GET /pets" of an operation, or the name of an endpoint
	Endpoint json.RawMessage // nil: an operation of the document
	Name     string          // of an operation's tool, which keeps it; empty: as the document says
	Filter   string          // jq; empty: none
	MaxPages int             // that are followed; 0: one
	Scopes   []string        // of OAuth that the operation needs

	Annotations map[string]bool // in place of those that follow from the method, by [APIAnnotations]; nil: none
}

// APIAnnotations are the names of the annotations of a tool that a person may set.
var APIAnnotations = []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
