package mcpadmin_test

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcpadmin"
	"patchbay/internal/safe"
	"patchbay/internal/testing/paniclog"
)

// The JSON API panics below a tool.
func TestTool_PanicIsInternalError(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	var exploding atomic.Bool
	w := newWorld(t)
	w.rebuild(t, func(o *mcpadmin.Options) {
		api := o.API
		o.Log, o.API = panics.Logger(), http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if exploding.Load() {
				panic("a secret")
			}
			api.ServeHTTP(rw, r)
		})
	})
	key, calls := w.newAPIKey(t, w.Tenant, connectors.RoleAdmin), 0
	for _, revision := range []string{newest, before} {
		a, other := w.connect(t, key, revision, ""), w.connect(t, w.newAPIKey(t, w.Other, connectors.RoleAdmin), revision, "")
		for range 2 {
			exploding.Store(true)
			_, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_connectors", Arguments: map[string]any{}})
			if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != -32603 {
				t.Errorf("%s: error = %v", revision, err)
			}
			calls++
			exploding.Store(false)
			a.callTool(t, "list_connectors", nil, nil)
			other.callTool(t, "list_connectors", nil, nil)
		}
	}
	panics.WantTimes(t, safe.Message, "TestTool_PanicIsInternalError", calls)
}
