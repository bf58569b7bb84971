package tracing_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"patchbay/internal/tracing"
)

// W3C Trace Context §3.2: what is sent on in a header has this form and no other.
var parentForm = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// sentOn fails where what servers are told of a trace is no trace context, or could be something else in a header.
func sentOn(t *testing.T, c tracing.Carried) {
	t.Helper()
	if c.Parent != "" && !parentForm.MatchString(c.Parent) || c.Parent == "" && c.State != "" {
		t.Errorf("sent on is %q, %q", c.Parent, c.State)
	}
	if strings.ContainsFunc(c.State, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' }) {
		t.Errorf("sent on is the state %q", c.State)
	}
}

// FuzzMeta reads the _meta of a request, which an agent wrote: whatever it names, what servers are told is a trace context or nothing.
func FuzzMeta(f *testing.F) {
	for _, seed := range []string{
		`{"traceparent":"` + theirParent + `"}`, `{"traceparent":"` + theirParent + `","tracestate":"a=1,b=2"}`, `{"traceparent":"` + theirParent + `","tracestate":"a=1\r\nX-Evil: 1"}`,
		`{"traceparent":"00-00000000000000000000000000000000-00f067aa0ba902b7-01"}`, `{"traceparent":"ff-` + theirTrace + `-00f067aa0ba902b7-01"}`,
		`{"traceparent":"01-` + theirTrace + `-00f067aa0ba902b7-01-more"}`, `{"traceparent":7}`, `{"Traceparent":"x","traceparent":"` + strings.ToUpper(theirParent) + `"}`,
		`{"progressToken":1,"traceparent":null}`, `{"traceparent":"` + theirParent + `"`, `[]`, `"traceparent"`,
	} {
		f.Add([]byte(seed))
	}
	tracer := tracing.New(sdk.NewTracerProvider())
	f.Fuzz(func(t *testing.T, meta []byte) {
		c := tracing.InMeta(meta)
		if again := tracing.InMeta(c.Meta()); c.Parent != "" && json.Valid(c.Meta()) && again != c {
			t.Errorf("%s is read as %+v, and written as %+v", meta, c, again)
		}
		within := c.Within(context.Background())
		named := trace.SpanContextFromContext(within)
		if named.IsValid() != named.IsRemote() || named.IsValid() && !strings.Contains(c.Parent, named.TraceID().String()) {
			t.Errorf("%s names %+v", meta, named)
		}
		sentOn(t, tracing.Carry(within))
		ctx, request := tracer.Begin(context.Background(), "HTTP", tracing.Server)
		defer request.End()
		ctx, span := tracing.Message(ctx, "mcp", meta)
		defer span.End()
		if !span.On() && (!named.IsValid() || named.IsSampled()) { // whoever asks may say that nobody looks
			t.Errorf("%s ends the trace", meta)
		}
		sentOn(t, tracing.Carry(ctx))
	})
}

// FuzzHeader reads the headers of a request in the same way.
func FuzzHeader(f *testing.F) {
	for _, seed := range [][2]string{
		{theirParent, ""}, {theirParent, "a=1"}, {theirParent, "a=1,a=2"}, {theirParent + ",x", ""}, {"", "a=1"}, {strings.ToUpper(theirParent), "a=1"}, {theirParent, strings.Repeat("a=1,", 40)},
	} {
		f.Add(seed[0], seed[1])
	}
	tracing.New(sdk.NewTracerProvider())
	f.Fuzz(func(t *testing.T, parent, state string) {
		ctx := tracing.FromHeader(context.Background(), http.Header{"Traceparent": {parent}, "Tracestate": {state}})
		if named := trace.SpanContextFromContext(ctx); named.IsValid() && !strings.Contains(parent, named.TraceID().String()) {
			t.Errorf("%q names %+v", parent, named)
		}
		sentOn(t, tracing.Carry(ctx))
		if twice := tracing.FromHeader(context.Background(), http.Header{"Traceparent": {parent, parent}}); trace.SpanContextFromContext(twice).IsValid() {
			t.Errorf("%q is taken where there are two", parent)
		}
	})
}
