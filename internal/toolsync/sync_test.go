package toolsync_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
)

func TestSync_StoresTheListedTools(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]mcptest.Script{
		"as JSON":        {},
		"as SSE":         {Stream: true},
		"in pages":       {PageSize: 2},
		"with a session": {SessionID: "abc", PageSize: 3, Stream: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			script.Tools = mcptest.Tools(7)
			c := b.addConnector(t, newUpstream(t, script).URL)

			run := b.mustSync(t, c)

			if run.State != connectors.SyncOK || run.Duration() <= 0 || run.ProtocolVersion != "2025-11-25" {
				t.Errorf("run = %+v", run)
			}
			if diff := cmp.Diff(connectors.SyncCounts{Total: 7, Added: 7}, run.Counts); diff != "" {
				t.Error(diff)
			}
			now := b.reload(t, c)
			if now.Status != connectors.StatusOK || now.ToolCount != 7 || len(now.DiscoveredTools) != 7 || now.ToolsLastSyncedAt == nil {
				t.Errorf("connector = %+v", now)
			}
			want := connectors.Server{
				Name: "mcptest", Version: "1.0", Title: "A scripted server", ProtocolVersion: "2025-11-25", Instructions: "Be kind.",
			}
			if diff := cmp.Diff(want, now.Server); diff != "" {
				t.Error(diff)
			}
			if now.AuthBehaviour != connectors.AuthOpen {
				t.Errorf("auth behaviour = %s", now.AuthBehaviour)
			}
		})
	}
}

func TestSync_KeepsDefinitionsByteForByte(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	const raw = `{ "zeta":1, "name":"big","description":"a\u0000b <c> \u003cd\u003e ☃","inputSchema":{"type":"object",` + "\n\t" +
		`"properties":{"n":{"type":"integer","maximum":12345678901234567890123,"default":9007199254740993}}},"x-unknown":{"b":1.0,"a":1e2},"execution":{"taskSupport":"optional"},"name2":null }`
	c := b.addConnector(t, newUpstream(t, mcptest.Script{Tools: []string{raw}}).URL)

	b.mustSync(t, c)

	if diff := cmp.Diff(raw, string(b.tools(t, c)["big"].Raw)); diff != "" {
		t.Error(diff)
	}
}

func TestSync_WritesOnlyDifferences(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: []string{mcptest.Tool("a"), mcptest.Tool("b"), mcptest.Tool("c")}})
	c := b.addConnector(t, up.URL, autoChanges)
	b.mustSync(t, c)
	before := b.tools(t, c)

	up.SetTools(mcptest.Tool("a"), `{"name":"b","description":"another","inputSchema":{"type":"object"}}`, mcptest.Tool("d"))
	run := b.mustSync(t, c)

	if diff := cmp.Diff(connectors.SyncCounts{Total: 3, Added: 1, Changed: 1, Removed: 1}, run.Counts); diff != "" {
		t.Error(diff)
	}
	after := b.tools(t, c)
	if !after["a"].ChangedAt.Equal(before["a"].ChangedAt) || !after["b"].ChangedAt.After(before["b"].ChangedAt) {
		t.Errorf("changed_at of a: %v → %v, of b: %v → %v",
			before["a"].ChangedAt, after["a"].ChangedAt, before["b"].ChangedAt, after["b"].ChangedAt)
	}
	if after["c"].RemovedAt == nil || after["d"].RemovedAt != nil || after["a"].LastSeenAt.Before(before["a"].LastSeenAt) {
		t.Errorf("after = %+v", after)
	}
	if diff := cmp.Diff([]string{"a", "b", "d"}, b.reload(t, c).DiscoveredTools); diff != "" {
		t.Error(diff)
	}
}

func TestSync_UnchangedListIsOneStatement(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(100)})
	c := b.addConnector(t, up.URL)
	b.mustSync(t, c)
	first := b.reload(t, c)
	before := b.Queries()

	run := b.mustSync(t, c)

	// Connector and tool names, start of the run, end of the run.
	if n := b.Queries() - before; n > 4 {
		t.Errorf("an unchanged sync asked the database %d times", n)
	}
	if diff := cmp.Diff(connectors.SyncCounts{Total: 100}, run.Counts); diff != "" {
		t.Error(diff)
	}
	if now := b.reload(t, c); !now.ToolsLastSyncedAt.After(*first.ToolsLastSyncedAt) {
		t.Error("tools_last_synced_at did not move")
	}
}

func TestSync_OrderOfAListIsNoChange(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: []string{mcptest.Tool("a"), mcptest.Tool("b")}})
	c := b.addConnector(t, up.URL)
	b.mustSync(t, c)
	up.SetTools(mcptest.Tool("b"), mcptest.Tool("a"))
	if run := b.mustSync(t, c); run.Counts != (connectors.SyncCounts{Total: 2}) {
		t.Errorf("counts = %+v", run.Counts)
	}
}

func TestSync_QuarantinesAMalformedTool(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.addConnector(t, newUpstream(t, mcptest.Script{Tools: []string{mcptest.Tool("good"), `{"name":7}`, `"text"`, mcptest.Tool("fine")}}).URL)

	run := b.mustSync(t, c)

	if diff := cmp.Diff(connectors.SyncCounts{Total: 2, Added: 2, Quarantined: 2}, run.Counts); diff != "" {
		t.Error(diff)
	}
	list, err := b.Door().Tools().Quarantined(t.Context(), c.ID, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 2 || string(list.Items[0].Raw) != `{"name":7}` || string(list.Items[1].Raw) != `"text"` {
		t.Errorf("quarantined = %+v", list.Items)
	}
}

func TestSync_NewToolsWaitForReview(t *testing.T) {
	t.Parallel()
	const reads = `{"name":"reads","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`
	b := newBundle(t)
	tool := func(description, title string) string {
		return fmt.Sprintf(`{"name":"kept","title":%q,"description":%q,"inputSchema":{"type":"object"}}`, title, description)
	}
	up := newUpstream(t, mcptest.Script{Tools: []string{tool("one", "A"), mcptest.Tool("other")}})
	c := b.addConnector(t, up.URL)
	b.mustSync(t, c)
	reviews := func() map[string]connectors.Review {
		m := map[string]connectors.Review{}
		for name, tool := range b.tools(t, c) {
			m[name] = tool.Review
		}
		return m
	}

	up.SetTools(tool("one", "B"), mcptest.Tool("other"), reads, mcptest.Tool("writes"))
	b.mustSync(t, c)
	want := map[string]connectors.Review{"kept": "accepted", "other": "accepted", "reads": "accepted", "writes": "new"}
	if diff := cmp.Diff(want, reviews()); diff != "" {
		t.Errorf("a new title, a tool that reads, and one that does not say so: %s", diff)
	}

	up.SetTools(tool("two", "B"), mcptest.Tool("other"), reads, mcptest.Tool("writes"))
	b.mustSync(t, c)
	want["kept"] = "changed"
	if diff := cmp.Diff(want, reviews()); diff != "" {
		t.Errorf("another description: %s", diff)
	}

	up.SetTools(tool("one", "B"), mcptest.Tool("other"), reads, mcptest.Tool("writes"))
	b.mustSync(t, c)
	want["kept"] = "accepted"
	if diff := cmp.Diff(want, reviews()); diff != "" {
		t.Errorf("back to what was accepted: %s", diff)
	}
}
