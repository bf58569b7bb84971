package mcp_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

// A server may repeat a credential where its words are taken for facts.
func TestError_TextHasNoCredential(t *testing.T) {
	t.Parallel()
	for header, sent := range map[string]string{
		"X-Api-Key": "sekret1", "Authorization": "Bearer sekret1", "Authorization, Basic": "Basic " + base64.StdEncoding.EncodeToString([]byte("ann:sekret1")),
	} {
		header, _, _ = strings.Cut(header, ",")
		for part, echo := range mcptest.Echoes() {
			t.Run(sent+" in "+part, func(t *testing.T) {
				t.Parallel()
				up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": echo}})
				_, _, err := newClient(t).sync(t, mcp.Target{URL: up.URL, Header: http.Header{header: {sent}}})
				if e, ok := errors.AsType[*mcp.Error](err); !ok || strings.Contains(e.Error()+e.Detail, "sekret1") {
					t.Errorf("%v", err)
				}
			})
		}
	}
}
