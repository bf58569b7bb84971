package serve_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"patchbay/internal/mcp/serve"
)

const pingMessage = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestBody_InvalidIsRejected(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{}, func(o *serve.Options) { o.MaxBody = 1000 })
	for name, tc := range map[string]struct {
		header map[string]string
		body   string
		status int
		code   int
	}{
		"a form":                   {map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, pingMessage, 415, -32600},
		"text":                     {map[string]string{"Content-Type": "text/plain"}, pingMessage, 415, -32600},
		"nothing said of it":       {map[string]string{"Content-Type": ""}, pingMessage, 415, -32600},
		"JSON of a character set":  {map[string]string{"Content-Type": "Application/JSON; charset=utf-8"}, pingMessage, 200, 0},
		"a client that reads HTML": {map[string]string{"Accept": "text/html"}, pingMessage, 406, -32600},
		"a client of everything":   {map[string]string{"Accept": "*/*"}, pingMessage, 200, 0},
		"no body":                  {map[string]string{"Content-Type": "application/json"}, "", 400, -32700},
		"a long body":              {nil, pingMessage + strings.Repeat(" ", 1000), 413, -32600},
		"a body that just fits":    {nil, pingMessage + strings.Repeat(" ", 1000-len(pingMessage)), 200, 0},
	} {
		r := p.send(testRequest{header: tc.header, body: tc.body})
		if text := r.text(); r.StatusCode != tc.status || errorCode(text) != tc.code {
			t.Errorf("%s: %d %s", name, r.StatusCode, text)
		}
	}
}

func TestOrigin_LocalOrSameHostOnly(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{})
	own := strings.TrimSuffix(strings.TrimPrefix(p.url, "http://"), "/me")
	for name, tc := range map[string]struct {
		host, origin string
		status       int
	}{
		"no origin":               {own, "", 200},
		"its own":                 {own, "http://" + own, 200},
		"another program's here":  {own, "http://localhost:3000", 200},
		"somebody else's":         {own, "https://evil.example", 403},
		"none that can be read":   {own, "null", 403},
		"a rebound name":          {"evil.example", "http://evil.example", 403},
		"a rebound name, silent":  {"evil.example", "", 403},
		"this machine by address": {"[::1]:80", "http://[::1]:80", 200},
	} {
		r := p.send(testRequest{header: map[string]string{"Host": tc.host, "Origin": tc.origin}, body: pingMessage})
		if r.StatusCode != tc.status {
			t.Errorf("%s: %d", name, r.StatusCode)
		}
	}
}

func TestBody_SlowClientIsAborted(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{}, func(o *serve.Options) { o.StallTimeout = 50 * time.Millisecond })
	for head, status := range map[string]string{
		"POST /me HTTP/1.1\r\nContent-Type: application/json\r\n":                                 "400",
		"POST /me HTTP/1.1\r\nContent-Type: text/plain\r\n":                                       "415",
		"POST /me HTTP/1.1\r\nContent-Type: application/json\r\nAccept: text/html\r\n":            "406",
		"POST /me HTTP/1.1\r\nContent-Type: application/json\r\nOrigin: https://evil.example\r\n": "403",
		"PUT /me HTTP/1.1\r\n": "405",
		"GET /me HTTP/1.1\r\n": "405",
	} {
		p.sendSlowBody(head, status)
	}
}

// sendSlowBody sends a body's first byte and waits for the response and the connection's end.
func (p *testServer) sendSlowBody(head, status string) {
	p.t.Helper()
	t := p.t
	host := strings.TrimSuffix(strings.TrimPrefix(p.url, "http://"), "/me")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, head+"Host: "+host+"\r\nContent-Length: 100\r\n\r\n{")
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 "+status+" ") {
		t.Errorf("%s: answered %q, %v", head, answer, err)
	}
}
