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

// listeningKind is a way to listen.
type listeningKind struct {
	name, short string
	request     func(ctx context.Context, b *bench, token string) (string, error) // without the lines that all have
}

var listeningKinds = []listeningKind{
	{"subscriptions/listen of 2026-07-28", "modern", subscription},
	{"GET streams of 2025-11-25, each of a session of its own", "get", getStream},
}

func subscription(context.Context, *bench, string) (string, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: %d\r\n%s\r\n\r\n%s",
		len(body), commonLines, body), nil
}

func getStream(ctx context.Context, b *bench, token string) (string, error) {
	a := soakAgent{soak: &soak{bench: b}, token: token, sessions: map[string]string{}}
	if err := a.greet(ctx, aggregated); err != nil {
		return "", err
	}
	return "GET /mcp HTTP/1.1\r\nMcp-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " + a.sessions[aggregated] + "\r\n" + commonLines + "\r\n\r\n", nil
}

const commonLines = "Host: %HOST%\r\nAuthorization: Bearer %TOKEN%\r\nAccept: application/json, text/event-stream"

// listenBy opens one stream by hand: an http.Client here would need as much memory as the server.
func listenBy(ctx context.Context, kind listeningKind, b *bench, token string) (net.Conn, error) {
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
