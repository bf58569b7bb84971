package mcp

import (
	"context"
	"net/http"

	"patchbay/internal/mcp/wire"
)

// The names of the trace context in _meta.
const (
	metaParent = "traceparent"
	metaState  = "tracestate"
)

// tellTrace puts the trace context of a request into its headers.
func tellTrace(header http.Header, parent, state string) {
	header["Traceparent"] = []string{parent}
	delete(header, "Tracestate")
	if state != "" {
		header["Tracestate"] = []string{state}
	}
}

// tellTrace puts the trace context of a request of our own into its _meta, where it has one in any case: in the modern era, and where
// there are no headers.
func (c *conversation) tellTrace(ctx context.Context, r request) request {
	if c.span == nil || c.era.asks() && !c.program {
		return r
	}
	parent, state := c.span(ctx)
	if parent == "" {
		return r
	}
	r.meta = append(without(r.meta, metaParent, metaState), wire.Member{Name: metaParent, Value: wire.Text(parent)})
	if state != "" {
		r.meta = append(r.meta, wire.Member{Name: metaState, Value: wire.Text(state)})
	}
	return r
}
