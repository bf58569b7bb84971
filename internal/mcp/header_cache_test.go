package mcp

import (
	"fmt"
	"net/http"
	"testing"
)

func TestHeaderCache_IsBounded(t *testing.T) {
	t.Parallel()
	u, all := headerCache{}, http.Header{"Accept": {"application/json"}}
	for i := range 10 * maxCachedHeaders {
		e := headerKey{hasBody: true, method: "tools/call", name: fmt.Sprintf("tool-%d", i%(maxCachedHeaders+1))}
		header := u.get(e, all)
		if header.Get("Mcp-Name") != e.name || header.Get("Accept") == "" || len(u.entries) > maxCachedHeaders {
			t.Errorf("%d are kept, and those of %s are %v", len(u.entries), e.name, header)
		}
	}
	e := headerKey{name: "once"}
	u.get(e, all)
	if again := u.get(e, nil); again.Get("Accept") == "" {
		t.Error("headers that are kept are not used")
	}
}
