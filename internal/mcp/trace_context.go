package mcp

import (
	"context"
	"net/http"

	"patchbay/internal/mcp/wire"
)

// Trace context members of _meta.
const (
	metaTraceparent = "traceparent"
	metaTracestate  = "tracestate"
)

func setTraceHeaders(header http.Header, parent, state string) {
	header["Traceparent"] = []string{parent}
	delete(header, "Tracestate")
	if state != "" {
		header["Tracestate"] = []string{state}
	}
}

// addTraceMeta adds the trace context to the _meta of our own requests, in the modern era and for child
// processes, which have no headers.
func (c *connection) addTraceMeta(ctx context.Context, r rpcRequest) rpcRequest {
	if c.traceContext == nil || c.era.hasServerRequests() && !c.isProgram {
		return r
	}
	parent, state := c.traceContext(ctx)
	if parent == "" {
		return r
	}
	r.meta = append(withoutMembers(r.meta, metaTraceparent, metaTracestate), wire.Member{Name: metaTraceparent, Value: wire.Text(parent)})
	if state != "" {
		r.meta = append(r.meta, wire.Member{Name: metaTracestate, Value: wire.Text(state)})
	}
	return r
}
