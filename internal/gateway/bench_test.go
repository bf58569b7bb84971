package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fasthttp/httpserver"
	"patchbay/internal/gateway"
	"patchbay/internal/jws/jwstest"
	"patchbay/internal/mcp"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolcall"
)

// cannedTransport answers upstream calls in the process.
type cannedTransport struct{}

func (cannedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	var m struct{ ID json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		return nil, err
	}
	answer := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"resultType":"complete","content":[{"type":"text","text":"found"}]}}`
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
		ContentLength: int64(len(answer)), Body: io.NopCloser(strings.NewReader(answer)), Request: r,
	}, nil
}

type targetFunc func(context.Context, connectors.TenantID, connectors.Connector, []credentials.Header) (mcp.Target, error)

func cannedTarget(build targetFunc) targetFunc {
	return func(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, headers []credentials.Header) (mcp.Target, error) {
		target, err := build(ctx, tenant, c, headers)
		target.HTTP = &http.Client{Transport: cannedTransport{}}
		return target, err
	}
}

// BenchmarkCall measures a warm call from the first request byte to the last response byte, over one
// connection, without the way to the upstream.
//
//	make bench
func BenchmarkCall(b *testing.B) {
	handler, w, a := newBenchGateway(b)
	header := "Authorization: Bearer " + w.Token(b, a.ID).Reveal()
	call := plainCall(b, handler)
	call(header)
	b.ReportAllocs()
	for b.Loop() {
		call(header)
	}
}

// BenchmarkCall_DPoP is BenchmarkCall with a bound token: the proof is verified, and its use recorded by one statement. Signing it is the
// client's, and not measured.
func BenchmarkCall_DPoP(b *testing.B) {
	handler, w, a := newBenchGateway(b)
	client := jwstest.NewProver(b)
	program := w.ProgramIn(b, w.Tenant, a.ID, w.Member(b, connectors.RoleAdmin).UserID)
	token := w.BoundAccessToken(b, w.Tenant, program, "/mcp/peer", client.Thumbprint(b)).Reveal()
	header := func() string {
		return "Authorization: DPoP " + token + "\r\nDPoP: " + client.Proof(b, http.MethodPost, "http://patchbay.example.com/mcp/peer", token, nil)
	}
	call := plainCall(b, handler)
	call(header())
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		h := header()
		b.StartTimer()
		call(h)
	}
}

func newBenchGateway(b *testing.B) (*gateway.Handler, *testEnv, connectors.Agent) {
	b.Helper()
	w := newTestEnv(b)
	u := newUpstream(b, sdk.StreamableHTTPOptions{Stateless: true})
	sdk.AddTool(u.Server, &sdk.Tool{Name: "find"}, func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{}, nil, nil
	})
	c, a := w.newConnector(b, "peer", u.url), w.newAutoAgent(b)
	w.Grant(b, a.ID, c.ID)
	base, err := url.Parse("http://patchbay.example.com")
	if err != nil {
		b.Fatal(err)
	}
	instance := fixture.NewInstance()
	writer := calllog.New(calllog.Options{Store: w.St, Instance: instance})
	caller := toolcall.New(toolcall.Options{
		Store: w.St, Access: w.access, Credentials: credentials.New(w.St), Dialer: &mcp.Dialer{Version: "test"},
		Target: cannedTarget(w.sync.Target), AcquireSlot: w.sync.AcquireCommandSlot, History: writer, Instance: instance, BaseURL: base.String(),
	})
	b.Cleanup(func() {
		caller.Stop(context.Background())
		writer.Stop(context.Background())
	})
	return gateway.New(gateway.Options{Store: w.St, Access: w.access, Caller: caller, BaseURL: base, Version: "test"}), w, a
}

// plainCall serves a handler and returns a function that makes one call, with lines for the token.
func plainCall(b *testing.B, h *gateway.Handler) (call func(header string)) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	front := httpserver.New(httpserver.Options{Handler: h, Accepts: h.HandlesPath, Fallback: &http.Server{Handler: h, ReadHeaderTimeout: patience}})
	go func() { _ = front.Serve(l) }()
	b.Cleanup(func() { _ = front.Close() })
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	rest := fmt.Appendf(nil, "\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: find\r\nContent-Length: %d\r\n\r\n%s",
		len(message), message)
	answers := bufio.NewReader(conn)
	var request []byte
	return func(header string) {
		request = append(append(append(request[:0], "POST /mcp/peer HTTP/1.1\r\nHost: patchbay.example.com\r\n"...), header...), rest...)
		if _, err := conn.Write(request); err != nil {
			b.Fatal(err)
		}
		skipAnswer(b, answers)
	}
}

// skipAnswer reads and discards a response.
func skipAnswer(b *testing.B, answers *bufio.Reader) {
	length := 0
	for n := 0; ; n++ {
		line, err := answers.ReadSlice('\n')
		if err != nil {
			b.Fatal(err)
		}
		if n == 0 && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
			b.Fatalf("%s", line)
		}
		if digits, is := bytes.CutPrefix(line, []byte("Content-Length: ")); is {
			for _, d := range bytes.TrimSpace(digits) {
				length = 10*length + int(d-'0')
			}
		}
		if len(line) == 2 {
			break
		}
	}
	body, err := answers.Peek(length)
	if err != nil || !bytes.Contains(body, []byte(`"found"`)) {
		b.Fatalf("%s, %v", body, err)
	}
	_, _ = answers.Discard(length)
}
