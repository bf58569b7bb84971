package tracing

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// W3C Trace Context, in headers and in places that have the same names. Baggage is neither read nor sent: what a caller says about itself
// is not for the servers behind us.
const (
	parent = "traceparent"
	state  = "tracestate"
)

var w3c propagation.TraceContext

// FromHeader has ctx belong to the trace that a request's headers name; it stays as it is where they name none.
func FromHeader(ctx context.Context, h http.Header) context.Context {
	if len(h["Traceparent"]) != 1 {
		return ctx
	}
	return w3c.Extract(ctx, propagation.HeaderCarrier(h))
}

// Carried is the trace context of a span, as two texts that belong together. Empty: there is none.
type Carried struct {
	Parent string `json:"traceparent,omitempty"`
	State  string `json:"tracestate,omitempty"`
}

// Get is for the propagator.
func (c *Carried) Get(key string) string {
	switch key {
	case parent:
		return c.Parent
	case state:
		return c.State
	}
	return ""
}

// Set is for the propagator.
func (c *Carried) Set(key, value string) {
	switch key {
	case parent:
		c.Parent = value
	case state:
		c.State = value
	}
}

// Keys is for the propagator.
func (c *Carried) Keys() []string { return []string{parent, state} }

// Carry is what another program is told of the trace that ctx belongs to, also where nobody looks at that: then it need not look, either.
func Carry(ctx context.Context) (c Carried) {
	if made.Load() {
		w3c.Inject(ctx, &c)
	}
	return c
}

// Told is what connectors' servers are told of the traces that requests are parts of; nil: nothing.
func (t *Tracer) Told() func(context.Context) (parent, state string) {
	if t == nil {
		return nil
	}
	return func(ctx context.Context) (parent, state string) {
		c := Carry(ctx)
		return c.Parent, c.State
	}
}

// Within has ctx belong to a trace that was carried here.
func (c Carried) Within(ctx context.Context) context.Context {
	if c.Parent == "" || !made.Load() {
		return ctx
	}
	return w3c.Extract(ctx, &c)
}

// InMeta reads the trace context in the _meta of an MCP request (SEP-414), or in a job's metadata.
func InMeta(meta []byte) (c Carried) {
	if !made.Load() || !bytes.Contains(meta, []byte(`"`+parent+`"`)) || json.Unmarshal(meta, &c) != nil {
		return Carried{}
	}
	return c
}

// Meta is c as an object; nil: there is none.
func (c Carried) Meta() []byte {
	if c.Parent == "" {
		return nil
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	return raw
}

// Message begins the span of an MCP request that came over HTTP. What its _meta names is its parent, and the HTTP request, whose span ctx
// has, is linked, as the conventions of MCP have it; else it is a part of the HTTP request.
func Message(ctx context.Context, name string, meta []byte) (context.Context, Span) {
	of := Here(ctx)
	if !of.On() {
		return ctx, of
	}
	c := InMeta(meta)
	if c.Parent == "" {
		return part(ctx, name, Server)
	}
	within := c.Within(ctx)
	if !trace.SpanContextFromContext(within).IsRemote() { // it was no trace context
		return part(ctx, name, Server)
	}
	return begin(within, of.span.TracerProvider().Tracer(scope), name, Server, trace.LinkFromContext(ctx))
}
