package listening_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/listening"
	"patchbay/internal/testing/fixture"
)

// What a server said while nobody listened is found when somebody does again, however often that is tried in vain before, and whatever ended the
// stream.
func TestWhatNobodyHeardIsFoundByWhoeverListensNext(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *process, *upstream) (next *process){
		"its process dies": func(t *testing.T, p *process, _ *upstream) *process {
			t.Helper()
			p.Die()
			p.beats(t, "- interval '7 seconds'")
			must(t, p.St.System().Beat(t.Context(), p.Instance))
			return start(t, p.World)
		},
		"its process stops": func(t *testing.T, p *process, _ *upstream) *process {
			t.Helper()
			p.Stop(t.Context())
			return start(t, p.World)
		},
		"the stream is lost": func(_ *testing.T, p *process, up *upstream) *process {
			up.cut()
			return p
		},
	} {
		for _, stateless := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stateless %v", name, stateless), func(t *testing.T) {
				t.Parallel()
				one := start(t, fixture.New(t))
				up := serve(t, stateless)
				told := up.tells(t)
				c := one.to(t, up.url)
				one.becomes(t, c, connectors.ListenListening, "")
				up.busy.Store(true)
				next := end(t, one, up)
				within(t, "it is tried in vain", func() bool { return next.failed(t, c) >= 2 })
				up.offer("missed")
				<-told
				up.busy.Store(false)
				next.findsWhatWasMissed(t, c)
				up.offer("second")
				if run := next.queued(t, c); run.Counts.Added != 1 {
					t.Errorf("what it says now: %+v", run)
				}
			})
		}
	}
}

func TestWhatNobodyHeardIsFoundInTheSameSession(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t), func(o *listening.Options) { o.Steady = time.Millisecond })
	up := serve(t, true)
	told := up.tells(t)
	c := p.to(t, up.url)
	p.becomes(t, c, connectors.ListenListening, "")
	queue := make(chan struct{})
	up.queue.Store(&queue)
	up.cut()
	up.offer("missed")
	<-told
	close(queue)
	p.findsWhatWasMissed(t, c)
}

// tells returns what is told of each change of the tools, when all who listen are told.
func (u *upstream) tells(t *testing.T) <-chan struct{} {
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

// failed is how often in a row a stream was not opened.
func (p *process) failed(t *testing.T, c connectors.Connector) (times int) {
	t.Helper()
	p.AsSystem(t, "select failures from upstream_listeners where connector_id = $1", []any{c.ID}, &times)
	return times
}

// findsWhatWasMissed waits for the sync that nobody but us asks for.
func (p *process) findsWhatWasMissed(t *testing.T, c connectors.Connector) {
	t.Helper()
	if run := p.queued(t, c); run.Trigger != connectors.TriggerListChanged || run.Counts.Added != 1 {
		t.Errorf("what was missed: %+v", run)
	}
	p.becomes(t, c, connectors.ListenListening, "")
	if l := p.listening(t, c); l.Notified != 0 || l.LastNotifiedAt != nil {
		t.Errorf("the server has said nothing, and is noted as %+v", l)
	}
}
