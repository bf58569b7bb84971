package toolsync_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// newMethods returns the methods that the server received since the last call.
func newMethods(up *mcptest.Server) func() string {
	seen := 0
	return func() string {
		all := up.Methods()
		defer func() { seen = len(all) }()
		return strings.Join(all[seen:], " ")
	}
}

func TestScheduledSync_KnownServerGetsOneRequest(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Modern: true, Tools: mcptest.Tools(20)})
	c, asked := b.addConnector(t, up.URL), newMethods(up)
	b.mustSync(t, c)
	if got := asked(); got != "server/discover tools/list" {
		t.Errorf("at first: %s", got)
	}
	learnt := b.reload(t, c)
	for range 3 {
		b.syncDue(t)
		if got := asked(); got != "tools/list" {
			t.Errorf("scheduled: %s", got)
		}
	}
	if now := b.reload(t, c); now.Server != learnt.Server || now.Server.Name != "mcptest" || string(now.Capabilities) != string(learnt.Capabilities) || now.Era != "modern" {
		t.Errorf("server = %+v, %s, %s", now.Server, now.Capabilities, now.Era)
	}
	if last := b.lastRun(t, c); last.State != connectors.SyncOK || last.Repeats != 2 || last.ProtocolVersion != "2026-07-28" {
		t.Errorf("run = %+v", last)
	}
	b.mustSync(t, c)
	if got := asked(); got != "server/discover tools/list" {
		t.Errorf("asked by a person: %s", got)
	}
}

func TestScheduledSync_ReadsServerInfoAfterAChange(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Modern: true, Tools: mcptest.Tools(2)})
	c, asked := b.addConnector(t, up.URL), newMethods(up)
	b.mustSync(t, c)
	for _, step := range []struct {
		name, want string
		before     func()
	}{
		{"its tools are others", "server/discover tools/list tools/list", func() { up.SetTools(mcptest.Tools(3)...) }},
		{"they are the same again", "tools/list", func() {}},
		{"a day is over", "server/discover tools/list", func() {
			b.AsSystem(t, "update connector_clock set known_until = now() where known_until between now() + interval '23 hours' and now() + interval '24 hours'", nil)
		}},
		{"another one begins", "tools/list", func() {}},
		{"the connector is changed", "server/discover tools/list", func() {
			now := b.reload(t, c)
			d := connectors.DraftOf(now)
			d.Timeout += time.Second
			if _, err := b.Door().Connectors().Update(t.Context(), now.ID, 0, d); err != nil {
				t.Fatal(err)
			}
		}},
		{"it failed", "server/discover tools/list", func() {
			b.AsSystem(t, "update connector_clock set failures = 1, failing_since = now()", nil)
		}},
	} {
		asked()
		step.before()
		b.syncDue(t)
		got := strings.Fields(asked())
		slices.Sort(got)
		if strings.Join(got, " ") != step.want {
			t.Errorf("%s: asked %q, want %q", step.name, got, step.want)
		}
	}
	if tools := b.tools(t, c); len(tools) != 3 {
		t.Errorf("tools = %v", tools)
	}
}

func TestScheduledSync_ServerOfMixedErasIsNotCached(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Modern: true, On: map[string]mcptest.Handler{
		"tools/list": mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `{"tools":[{"name":"a"}]}`) }),
	}})
	asked := newMethods(up)
	b.mustSync(t, b.addConnector(t, up.URL))
	for range 2 {
		asked()
		b.syncDue(t)
		if got := asked(); got != "server/discover tools/list" {
			t.Errorf("scheduled: %s", got)
		}
	}
}

func TestScheduledSync_ServerInfoExpires(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Modern: true, Tools: mcptest.Tools(1), On: map[string]mcptest.Handler{
		"server/discover": mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":3600000}`)
		}),
	}})
	c := b.addConnector(t, up.URL)
	b.mustSync(t, c)
	var minutes float64
	b.AsSystem(t, "select extract(epoch from known_until - now())::float8 / 60 from connector_clock where connector_id = $1", []any{c.ID.UUID}, &minutes)
	if minutes < 50 || minutes > 60 {
		t.Errorf("known for %v minutes", minutes)
	}
}
