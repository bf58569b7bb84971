package toolsync_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/toolsync"
)

// HTTP/2 only: one stream is reset, and the connection goes on.
func TestSloppyHTTP2Servers_AreReadOrExplained(t *testing.T) {
	t.Parallel()
	const broke = "The connection broke before the server answered. Try again; if it recurs, check the URL and the server's log."
	for name, c := range map[string]struct {
		list mcptest.Handler
		says string // empty: success
	}{
		"well": {mcptest.ListResult(mcptest.Tool("a")), ""},
		"the stream is reset": {func(http.ResponseWriter, *http.Request, mcptest.Call) {
			panic(http.ErrAbortHandler)
		}, broke},
		"the stream is reset in the body": {func(w http.ResponseWriter, _ *http.Request, _ mcptest.Call) {
			_, _ = io.WriteString(w, `{"jsonrpc":`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, broke},
		"the length is a lie": {mcptest.Status(200, "{", "Content-Length", "100"), broke},
		"a status and no body": {mcptest.Status(502, ""),
			"The server answered with HTTP 502, a problem on its side. Try again later."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, client := http2Server(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": c.list}})
			d := connectors.NewDraft()
			d.URL, d.RetryAttempts = url, 0
			syncer := toolsync.New(toolsync.Options{HTTP: client, Credentials: credentialsWithoutStore(), Version: "test"})
			report, err := syncer.Probe(t.Context(), connectors.TenantID{}, nil, d, connectors.Secret{})
			switch {
			case err != nil:
				t.Fatal(err)
			case c.says == "" && !report.OK:
				t.Error(report.Error)
			case c.says != "" && (report.Error == nil || report.Error.Message != c.says):
				t.Errorf("%v, want %s", report.Error, c.says)
			}
		})
	}
}

func http2Server(t *testing.T, script mcptest.Script) (url string, client *http.Client) {
	t.Helper()
	handler := mcptest.Start(t, script)
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of aborted handlers
	server.StartTLS()
	t.Cleanup(server.Close)
	client = server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return server.URL + "/mcp", client
}
