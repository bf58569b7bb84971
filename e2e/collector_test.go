//go:build e2e

package e2e_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// traceCollector receives traces as a collector does, by OTLP over HTTP.
type traceCollector struct {
	t   *testing.T
	url string

	mu    sync.Mutex // guards what follows
	spans []sentSpan
	raw   strings.Builder
}

// sentSpan is a span as it arrived.
type sentSpan struct {
	trace, id, parent, name, kind string
	failed                        bool
	said                          map[string]string
	links                         []string // traces
	note                          string   // of its status, and its events: there should be none
	service                       string
}

func newTraceCollector(t *testing.T) *traceCollector {
	t.Helper()
	c := &traceCollector{t: t}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// env has a program send its traces here, and soon.
func (c *traceCollector) env() []string {
	return []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.url, "OTEL_BSP_SCHEDULE_DELAY=50", "PATCHBAY_LOG_FORMAT=json"}
}

// ServeHTTP takes a batch.
func (c *traceCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var batch collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &batch)
	}
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.t.Errorf("no batch of traces at %s: %v", r.URL.Path, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(body)
	for _, of := range batch.GetResourceSpans() {
		service := texts(of.GetResource().GetAttributes())["service.name"]
		for _, scope := range of.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, spanOf(s, service))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func spanOf(s *traces.Span, service string) sentSpan {
	got := sentSpan{
		trace: hex.EncodeToString(s.GetTraceId()), id: hex.EncodeToString(s.GetSpanId()), parent: hex.EncodeToString(s.GetParentSpanId()),
		name: s.GetName(), kind: strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_"), failed: s.GetStatus().GetCode() == traces.Status_STATUS_CODE_ERROR,
		said: texts(s.GetAttributes()), note: s.GetStatus().GetMessage(), service: service,
	}
	for _, l := range s.GetLinks() {
		got.links = append(got.links, hex.EncodeToString(l.GetTraceId()))
	}
	for _, e := range s.GetEvents() {
		got.note += e.String()
	}
	return got
}

func texts(attributes []*common.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attributes {
		switch v := a.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			all[a.GetKey()] = v.StringValue
		case *common.AnyValue_IntValue:
			all[a.GetKey()] = fmt.Sprint(v.IntValue)
		default:
			all[a.GetKey()] = a.GetValue().String()
		}
	}
	return all
}

// all is what arrived.
func (c *traceCollector) all() []sentSpan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// body is every byte that arrived.
func (c *traceCollector) body() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raw.String()
}

// find waits for a span.
func (c *traceCollector) find(what string, is func(sentSpan) bool) sentSpan {
	c.t.Helper()
	var found sentSpan
	eventually(c.t, func() error {
		all := c.all()
		i := slices.IndexFunc(all, is)
		if i < 0 {
			return fmt.Errorf("no span %s among %d: %s", what, len(all), shownSpans(all))
		}
		found = all[i]
		return nil
	})
	return found
}

// named waits for a span of a trace; no trace: of any.
func (c *traceCollector) named(trace, name string) sentSpan {
	c.t.Helper()
	return c.find(name, func(s sentSpan) bool { return s.name == name && (trace == "" || s.trace == trace) })
}

// chain has each of these spans of a trace, which are waited for, be a part of the one before, at whatever depth. It returns the last.
func (c *traceCollector) chain(trace string, names ...string) sentSpan {
	c.t.Helper()
	last := c.named(trace, names[0])
	for _, name := range names[1:] {
		of := last
		last = c.find(name+" within "+of.name, func(s sentSpan) bool {
			return s.trace == trace && s.name == name && c.within(s, of)
		})
	}
	return last
}

// within reports whether a span is a descendant of another.
func (c *traceCollector) within(s, of sentSpan) bool {
	for s.parent != "" && s.parent != of.id {
		all := c.all()
		i := slices.IndexFunc(all, func(p sentSpan) bool { return p.id == s.parent })
		if i < 0 {
			return false
		}
		s = all[i]
	}
	return s.parent == of.id
}

func shownSpans(all []sentSpan) string {
	var lines []string
	for _, s := range all {
		s.said = maps.Clone(s.said)
		delete(s.said, "db.query.text")
		lines = append(lines, fmt.Sprintf("\n%s %s<%s %s %s %v", s.trace[:6], s.id[:6], s.parent[:min(6, len(s.parent))], s.kind, s.name, s.said))
	}
	return strings.Join(lines, "")
}
