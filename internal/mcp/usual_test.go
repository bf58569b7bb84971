package mcp

import (
	"fmt"
	"net/http"
	"testing"
)

func TestHeadersOfAFewToolsAreKept(t *testing.T) {
	t.Parallel()
	u, all := usual{}, http.Header{"Accept": {"application/json"}}
	for i := range 10 * mostUsual {
		e := essence{body: true, method: "tools/call", name: fmt.Sprintf("tool-%d", i%(mostUsual+1))}
		header := u.headers(e, all)
		if header.Get("Mcp-Name") != e.name || header.Get("Accept") == "" || len(u.sent) > mostUsual {
			t.Errorf("%d are kept, and those of %s are %v", len(u.sent), e.name, header)
		}
	}
	e := essence{name: "once"}
	u.headers(e, all)
	if again := u.headers(e, nil); again.Get("Accept") == "" {
		t.Error("headers that are kept are not used")
	}
}
