package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/fasthttp/contexts"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

// One session with a server in the same process: handshake, list, close.
func BenchmarkListTools(b *testing.B) {
	for _, tools := range []int{20, 100} {
		for _, stream := range []bool{false, true} {
			kind := map[bool]string{false: "json", true: "sse"}[stream]
			b.Run(fmt.Sprintf("%d/%s", tools, kind), func(b *testing.B) {
				up := mcptest.Start(b, mcptest.Script{Tools: mcptest.Tools(tools), SessionID: "s", Stream: stream})
				c := newClient(b)
				b.ReportAllocs()
				for b.Loop() {
					_, list, err := c.sync(b, mcp.Target{URL: up.URL})
					if err != nil || len(list.Tools) != tools {
						b.Fatalf("%d tools, error %v", len(list.Tools), err)
					}
				}
			})
		}
	}
}

// One call in an open session without the network: the client's own cost, with a cancellable context.
func BenchmarkCallAlone(b *testing.B) {
	arguments, note := []byte(`{"query":"some words","limit":10}`), func(mcp.Message) {}
	meta := []byte(`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"agent","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`)
	for _, era := range []mcp.Era{mcp.EraModern, mcp.EraHandshake} {
		b.Run(string(era), func(b *testing.B) {
			d := mcp.Dialer{HTTP: &http.Client{Transport: &replier{}}, Version: "1"}
			target := mcp.Target{URL: "http://server.test/mcp", Header: http.Header{"Authorization": {"Bearer token"}}, Era: era, Timeout: patience}
			s, err := d.Dial(b.Context(), target)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close(b.Context())
			b.ReportAllocs()
			for b.Loop() {
				ctx := new(contexts.Context) // as production callers pass it
				ctx.Init(context.WithoutCancel(b.Context()))
				result, err := s.Call(ctx, mcp.Call{Name: "search_documents", Arguments: arguments, Meta: meta, Message: note})
				if err != nil || len(result.Content) < 1024 {
					b.Fatal(result, err)
				}
				ctx.Cancel(nil)
			}
		})
	}
}

// replier answers each request in turn and observes its context as a connection does. It is its own body.
type replier struct {
	in, out []byte
	left    []byte
	stop    func() bool
}

var replies = map[string]string{
	"initialize":      `,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"replier","version":"1"}}}`,
	"server/discover": `,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}}`,
	"tools/call":      `,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 1024) + `"}],"resultType":"complete"}}`,
}

func (p *replier) RoundTrip(r *http.Request) (*http.Response, error) {
	p.in = append(p.in[:0], make([]byte, r.ContentLength)...)
	if _, err := io.ReadFull(r.Body, p.in); err != nil {
		return nil, err
	}
	_, rest, asked := bytes.Cut(p.in, []byte(`"id":`))
	id, rest, _ := bytes.Cut(rest, []byte(`,"method":"`))
	method, _, _ := bytes.Cut(rest, []byte(`"`))
	if !asked {
		return &http.Response{StatusCode: http.StatusAccepted, Body: http.NoBody}, nil
	}
	p.out = append(append(append(p.out[:0], `{"jsonrpc":"2.0","id":`...), id...), replies[string(method)]...)
	p.left = p.out
	within, _ := r.Context().(interface {
		AfterFunc(do func()) (stop func() bool)
	})
	p.stop = within.AfterFunc(func() {})
	return &http.Response{StatusCode: http.StatusOK, Body: p, ContentLength: int64(len(p.out))}, nil
}

func (p *replier) Read(b []byte) (n int, err error) {
	n = copy(b, p.left)
	if p.left = p.left[n:]; len(p.left) == 0 {
		err = io.EOF
	}
	return n, err
}

func (p *replier) Close() error {
	p.stop()
	return nil
}
