package listchanges_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/listchanges"
	"patchbay/internal/testing/fixture"
)

// Changes notified without a stream are found by the next stream, after any number of failed attempts and any
// kind of end.
func TestMissedChanges_AreFoundByTheNextStream(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *process, *upstream) (next *process){
		"its process dies": func(t *testing.T, p *process, _ *upstream) *process {
			t.Helper()
			p.Die()
			p.setHeartbeat(t, "- interval '7 seconds'")
			must(t, p.St.System().Syncs().Heartbeat(t.Context(), p.Instance))
			return start(t, p.World)
		},
		"its process stops": func(t *testing.T, p *process, _ *upstream) *process {
			t.Helper()
			p.Stop(t.Context())
			return start(t, p.World)
		},
		"the stream is lost": func(_ *testing.T, p *process, up *upstream) *process {
			up.closeAll()
			return p
		},
	} {
		for _, stateless := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stateless %v", name, stateless), func(t *testing.T) {
				t.Parallel()
				one := start(t, fixture.New(t))
				up := serve(t, stateless)
				told := up.listen(t)
				c := one.addConnector(t, up.url)
				one.waitState(t, c, connectors.ListenListening, "")
				up.failing.Store(true)
				next := end(t, one, up)
				within(t, "it is tried in vain", func() bool { return next.failures(t, c) >= 2 })
				up.addTool("missed")
				<-told
				up.failing.Store(false)
				next.wantMissedSync(t, c)
				up.addTool("second")
				if run := next.runQueued(t, c); run.Counts.Added != 1 {
					t.Errorf("what it says now: %+v", run)
				}
			})
		}
	}
}

func TestMissedChanges_AreFoundInTheSameSession(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t), func(o *listchanges.Options) { o.MinStreamLife = time.Millisecond })
	up := serve(t, true)
	told := up.listen(t)
	c := p.addConnector(t, up.url)
	p.waitState(t, c, connectors.ListenListening, "")
	queue := make(chan struct{})
	up.held.Store(&queue)
	up.closeAll()
	up.addTool("missed")
	<-told
	close(queue)
	p.wantMissedSync(t, c)
}

// listen returns a channel that receives each change of the tools once all streams are notified.
func (u *upstream) listen(t *testing.T) <-chan struct{} {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	server, err := u.Connect(t.Context(), there, nil)
	must(t, err)
	told := make(chan struct{}, 10)
	witness := sdk.NewClient(&sdk.Implementation{Name: "witness", Version: "v1"}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { told <- struct{}{} },
	})
	session, err := witness.Connect(t.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	must(t, err)
	t.Cleanup(func() {
		_ = session.Close()
		_ = server.Wait()
	})
	return told
}

// failures returns the number of failed attempts in a row.
func (p *process) failures(t *testing.T, c connectors.Connector) (times int) {
	t.Helper()
	p.AsSystem(t, "select failures from upstream_listeners where connector_id = $1", []any{c.ID}, &times)
	return times
}

// wantMissedSync waits for the sync of missed changes.
func (p *process) wantMissedSync(t *testing.T, c connectors.Connector) {
	t.Helper()
	if run := p.runQueued(t, c); run.Trigger != connectors.TriggerListChanged || run.Counts.Added != 1 {
		t.Errorf("what was missed: %+v", run)
	}
	p.waitState(t, c, connectors.ListenListening, "")
	if l := p.listening(t, c); l.Notified != 0 || l.LastNotifiedAt != nil {
		t.Errorf("the server has said nothing, and is noted as %+v", l)
	}
}
