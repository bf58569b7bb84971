package toolcall

import "patchbay/internal/connectors"

// NewCallID names a call.
func NewCallID() connectors.ToolCallID { return newCallID() }
