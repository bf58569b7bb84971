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
	"patchbay/internal/credentials"
	"patchbay/internal/fasthttp/httpserver"
	"patchbay/internal/gateway"
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

// BenchmarkCall measures a warm call from the first request byte to the last response byte, over one
// connection, without the way to the upstream.
//
//	make bench
func BenchmarkCall(b *testing.B) {
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
		Store: w.St, Access: w.access, Credentials: credentials.New(w.St), Dialer: &mcp.Dialer{Version: "test", HTTP: &http.Client{Transport: cannedTransport{}}},
		Target: w.sync.Target, AcquireSlot: w.sync.AcquireCommandSlot, History: writer, Instance: instance, BaseURL: base.String(),
	})
	b.Cleanup(func() {
		caller.Stop(context.Background())
		writer.Stop(context.Background())
	})
	handler := gateway.New(gateway.Options{Store: w.St, Access: w.access, Caller: caller, BaseURL: base, Version: "test"})
	call := plainCall(b, handler, w.Token(b, a.ID).Reveal())
	call()
	b.ReportAllocs()
	for b.Loop() {
		call()
	}
}

// plainCall serves a handler and returns a function that makes one call.
func plainCall(b *testing.B, h *gateway.Handler, token string) (call func()) {
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
	request := fmt.Appendf(nil, "POST /mcp/peer HTTP/1.1\r\nHost: patchbay.example.com\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: find\r\nContent-Length: %d\r\n\r\n%s",
		token, len(message), message)
	answers := bufio.NewReader(conn)
	return func() {
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
