package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

func TestSession_FormatHidesSecrets(t *testing.T) {
	t.Parallel()
	const id, token = "session-id-that-is-secret", "token-that-is-secret"
	server := mcptest.Start(t, mcptest.Script{SessionID: id})
	session, err := newClient(t).Dial(t.Context(), mcp.Target{URL: server.URL, Header: http.Header{"Authorization": {"Bearer " + token}}})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(t.Context())
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+"\n", session)
		fmt.Fprintf(&out, verb+"\n", struct{ S *mcp.Session }{session})
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "session", session)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "session", session)
	inJSON, err := json.Marshal(session) //nolint:staticcheck // that it has nothing to show is what is asked
	if err != nil {
		t.Fatal(err)
	}
	out.Write(inJSON)
	if shown := out.String(); strings.Contains(shown, "secret") || !strings.Contains(shown, "[mcp session]") {
		t.Errorf("shown: %s", shown)
	}
}
