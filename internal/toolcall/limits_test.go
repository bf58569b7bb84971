package toolcall_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/toolcall"
)

func TestCall_InFlightLimitPerAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a, other := b.newTrustedAgent(t, c), b.newTrustedAgent(t, c)
	release := b.HoldSlots(a.ID, 1000)
	_, err := b.call(t, a, c, "")
	wantRefused(t, err, toolcall.CodeRateLimited)
	request := b.order(t, b.process, a, c, "search", "")
	query := toolcall.UpstreamRequest{
		View: request.View, Connector: request.Tool.Connector, Kind: connectors.CallResource, Name: "file:///a", Method: "resources/read", Source: request.Source,
	}
	_, err = b.SendRequest(t.Context(), query)
	wantRefused(t, err, toolcall.CodeRateLimited)
	_, err = b.TaskRequest(t.Context(), request.View, toolcall.Client{}, "tasks/get", []byte(`{"taskId":"x"}`))
	wantRefused(t, err, toolcall.CodeRateLimited)
	err = b.WatchResources(t.Context(), request.View, request.Tool.Connector, []string{"file:///a"}, nil)
	wantRefused(t, err, toolcall.CodeRateLimited)
	_, err = b.call(t, other, c, "")
	must(t, err)
	release()
	_, err = b.call(t, a, c, "")
	must(t, err)
	_, err = b.SendRequest(t.Context(), query)
	must(t, err)
	b.remote.wantCalls(t, 2)
}

// countAllowed makes calls until they are refused.
func (b *bench) countAllowed(t *testing.T, p *process, a connectors.Agent, c connectors.Connector) (n int) {
	t.Helper()
	for {
		_, err := p.Call(t.Context(), b.order(t, p, a, c, "search", ""))
		if err != nil {
			wantRefused(t, err, toolcall.CodeRateLimited)
			return n
		}
		n++
	}
}

func TestLimit_SpansProcesses(t *testing.T) {
	t.Parallel()
	for name, limited := range map[string]struct{ agent, connector int }{"of an agent": {agent: 4}, "of a connector": {connector: 4}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			other := b.newProcess(t, b.newInstance(t))
			c := b.connector(t, b.remote, func(d *connectors.Draft) { d.CallsPerMinute = limited.connector })
			a := b.newTrustedAgent(t, c, func(a *connectors.Agent) { a.CallsPerMinute = limited.agent })
			all := []*process{b.process, other}
			round := func(want ...int) {
				t.Helper()
				for i, p := range all {
					if n := b.countAllowed(t, p, a, c); n != want[i] {
						t.Errorf("process %d makes %d calls, want %d", i, n, want[i])
					}
				}
				for _, p := range all {
					p.PublishUses(t.Context())
				}
			}
			receiveUses := func(perProcess int) {
				for _, p := range all {
					for range perProcess {
						receive(t, p.uses)
					}
				}
			}
			for _, p := range all {
				p.Sweep(t.Context())
			}
			round(2, 2)
			receiveUses(2)
			round(0, 0)
			b.clock.advance(30 * time.Second)
			round(1, 1)
			receiveUses(2)
			b.clock.advance(time.Hour)
			round(2, 2)
		})
	}
}

func TestLimit_PeerUsesCountBeforeFirstCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	other := b.newProcess(t, b.newInstance(t))
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c, func(a *connectors.Agent) { a.CallsPerMinute = 4 })
	for _, p := range []*process{b.process, other} {
		p.Sweep(t.Context())
	}
	if n := b.countAllowed(t, b.process, a, c); n != 2 {
		t.Errorf("%d calls", n)
	}
	b.PublishUses(t.Context())
	receive(t, other.uses)
	if n := b.countAllowed(t, other, a, c); n != 1 {
		t.Errorf("%d calls of the 2 that are left, of which one process gives half", n)
	}
}
