package toolcall_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/toolcall"
)

// TestAnAgentHasSoManyCallsUnderWay has an agent that begins more than a process can hold: it stands in nobody else's way.
func TestAnAgentHasSoManyCallsUnderWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a, other := b.trusted(t, c), b.trusted(t, c)
	leave := b.Crowd(a.ID, 1000)
	_, err := b.call(t, a, c, "")
	wantRefused(t, err, toolcall.CodeRateLimited)
	order := b.order(t, b.process, a, c, "search", "")
	query := toolcall.Query{
		View: order.View, Reach: order.Tool.Reach, Kind: connectors.CallResource, Name: "file:///a", Method: "resources/read", Source: order.Source,
	}
	_, err = b.Request(t.Context(), query)
	wantRefused(t, err, toolcall.CodeRateLimited)
	_, err = b.TaskRequest(t.Context(), order.View, toolcall.Client{}, "tasks/get", []byte(`{"taskId":"x"}`))
	wantRefused(t, err, toolcall.CodeRateLimited)
	err = b.WatchResources(t.Context(), order.View, order.Tool.Reach, []string{"file:///a"}, nil)
	wantRefused(t, err, toolcall.CodeRateLimited)
	_, err = b.call(t, other, c, "")
	must(t, err)
	leave()
	_, err = b.call(t, a, c, "")
	must(t, err)
	_, err = b.Request(t.Context(), query)
	must(t, err)
	b.remote.wantCalls(t, 2)
}
