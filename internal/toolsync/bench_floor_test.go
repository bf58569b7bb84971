package toolsync_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

// floorSync is the lower bound of a sync, for comparison in the same run: four requests over one http.Client,
// the list decoded by encoding/json, and one statement that stamps the connector. It stores no definition and
// no run.
func (b *bundle) floorSync(t *testing.B, client *http.Client, url string, c connectors.Connector) {
	t.Helper()
	session := ""
	ask := func(method, body string) []byte {
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		session = res.Header.Get("Mcp-Session-Id")
		reply, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	ask(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"floor","version":"1"}}}`)
	ask(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	var list struct {
		Result struct {
			Tools []struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				InputSchema json.RawMessage `json:"inputSchema"`
			} `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal(ask(http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`), &list); err != nil || len(list.Result.Tools) == 0 {
		t.Fatal("no list", err)
	}
	if _, err := b.Pool.Exec(t.Context(), fmt.Sprintf(
		"begin; select set_config('app.tenant_id', '%s', true); update connectors set tools_last_synced_at = now() where tenant_id = '%s' and id = '%s'; commit",
		b.Tenant, b.Tenant, c.ID)); err != nil {
		t.Fatal(err)
	}
}
