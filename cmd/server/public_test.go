package main

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/config"
	"patchbay/internal/mcpadmin"
)

// Another request is hidden behind one with two lengths.
func TestTwoLengths_RefusedInBothModes(t *testing.T) {
	t.Parallel()
	for _, mode := range []config.HTTPMode{config.HTTPFast, config.HTTPStandard} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		public := newPublicServer(publicOptions{
			mode: mode, log: slog.New(slog.DiscardHandler), isAgentsPath: func(path string) bool { return path == "/mcp" },
			handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }),
		})
		served := make(chan error, 1)
		go func() { served <- public.Serve(listener) }()
		for _, path := range []string{"/login", "/mcp"} {
			for _, before := range []string{"", "POST " + path + " HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok"} {
				c, err := net.Dial("tcp", listener.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.WriteString(c, before+"POST "+path+" HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: h\r\n\r\n")
				all, err := io.ReadAll(bufio.NewReader(c))
				_ = c.Close()
				answers := strings.Count(string(all), "HTTP/1.1 ")
				if err != nil || answers != 1+min(len(before), 1) || !strings.Contains(string(all), "HTTP/1.1 400 Bad Request") {
					t.Errorf("%s %s behind %q: %v\n%s", mode, path, before, err, all)
				}
			}
		}
		_ = public.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}
}

// A proxy in front may have checked the other header.
func TestTwoAuthorizations_RefusedAtEveryRoute(t *testing.T) {
	t.Parallel()
	u := serveHandlers(t)
	agent := u.world.Token(t, u.world.Agent(t).ID).Reveal()
	for path, token := range map[string]string{
		"/mcp": agent, "/mcp/nothing": agent, mcpadmin.Path: u.key, "/api/v1/connectors": u.key, "/oauth/token": u.key, "/oauth/introspect": u.key, "/connectors": u.key, "/login": u.key,
	} {
		for _, lines := range [][]string{
			{"Bearer " + token, "Bearer " + token}, {"Bearer " + token, "Bearer other"}, {"Bearer other", "Bearer " + token}, {"", "Bearer " + token}, {"Bearer " + token, ""},
		} {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				r := httptest.NewRequestWithContext(t.Context(), method, u.base+path, nil)
				r.Header["Authorization"] = lines
				w := httptest.NewRecorder()
				u.rootHandler().ServeHTTP(w, r)
				if w.Code != http.StatusBadRequest {
					t.Errorf("%s %s with %d lines: %d %s", method, path, len(lines), w.Code, w.Body)
				}
			}
		}
	}
}
