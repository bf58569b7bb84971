package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// listenMethod is a way to open a listener stream.
type listenMethod struct {
	name, short string
	request     func(ctx context.Context, b *bench, token string) (string, error) // without the common lines
}

var listenMethods = []listenMethod{
	{"subscriptions/listen of 2026-07-28", "modern", subscriptionRequest},
	{"GET streams of 2025-11-25, each of a session of its own", "get", streamRequest},
}

func subscriptionRequest(context.Context, *bench, string) (string, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: %d\r\n%s\r\n\r\n%s",
		len(body), commonLines, body), nil
}

func streamRequest(ctx context.Context, b *bench, token string) (string, error) {
	a := soakAgent{soakRun: &soakRun{bench: b}, token: token, sessions: map[string]string{}}
	if err := a.initialize(ctx, mcpPath); err != nil {
		return "", err
	}
	return "GET /mcp HTTP/1.1\r\nMcp-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " + a.sessions[mcpPath] + "\r\n" + commonLines + "\r\n\r\n", nil
}

const commonLines = "Host: %HOST%\r\nAuthorization: Bearer %TOKEN%\r\nAccept: application/json, text/event-stream"

// openListener opens a stream on a raw connection. An http.Client here would need as much memory as the server.
func openListener(ctx context.Context, kind listenMethod, b *bench, token string) (net.Conn, error) {
	to, err := url.Parse(b.patchbay.address)
	if err != nil {
		return nil, err
	}
	request, err := kind.request(ctx, b, token)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", to.Host)
	if err != nil {
		return nil, err
	}
	if _, err := strings.NewReplacer("%HOST%", to.Host, "%TOKEN%", token).WriteString(c, request); err != nil {
		return nil, err
	}
	line, err := bufio.NewReaderSize(c, 64).ReadString('\n')
	if err != nil || !strings.Contains(line, fmt.Sprint(http.StatusOK)) {
		return nil, fmt.Errorf("%q: %w", line, err)
	}
	return c, nil
}
