package serve

import (
	"encoding/json"
	"fmt"
)

// RPCError is a JSON-RPC error that a client may read.
type RPCError struct {
	Code    int
	Message string
	Data    json.RawMessage // nil: none
	Status  int             // of HTTP; 0: the one that the code has in the peer's era
}

// Error names the code, for logs. The message may be remote text.
func (e *RPCError) Error() string { return fmt.Sprintf("JSON-RPC error %d", e.Code) }
