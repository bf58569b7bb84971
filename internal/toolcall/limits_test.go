package toolcall_test

import (
	"testing"
	"time"

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

// takes counts how many calls an agent may make at a process now.
func (b *bench) takes(t *testing.T, p *process, a connectors.Agent, c connectors.Connector) (n int) {
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

func TestALimitIsForAllProcessesTogether(t *testing.T) {
	t.Parallel()
	for name, limited := range map[string]struct{ agent, connector int }{"of an agent": {agent: 4}, "of a connector": {connector: 4}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			other := b.newProcess(t, b.beating(t))
			c := b.connector(t, b.remote, func(d *connectors.Draft) { d.CallsPerMinute = limited.connector })
			a := b.trusted(t, c, func(a *connectors.Agent) { a.CallsPerMinute = limited.agent })
			all := []*process{b.process, other}
			round := func(want ...int) {
				t.Helper()
				for i, p := range all {
					if n := b.takes(t, p, a, c); n != want[i] {
						t.Errorf("process %d makes %d calls, want %d", i, n, want[i])
					}
				}
				for _, p := range all {
					p.TellUses(t.Context())
				}
			}
			heard := func(words int) {
				for _, p := range all {
					for range words {
						<-p.uses
					}
				}
			}
			for _, p := range all {
				p.Sweep(t.Context())
			}
			round(2, 2)
			heard(2)
			round(0, 0)
			b.clock.pass(30 * time.Second)
			round(1, 1)
			heard(2)
			b.clock.pass(time.Hour)
			round(2, 2)
		})
	}
}

// TestWhatOthersTookCountsBeforeTheFirstCall has a process hear of an agent that has not come to it yet.
func TestWhatOthersTookCountsBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	other := b.newProcess(t, b.beating(t))
	c := b.connector(t, b.remote)
	a := b.trusted(t, c, func(a *connectors.Agent) { a.CallsPerMinute = 4 })
	for _, p := range []*process{b.process, other} {
		p.Sweep(t.Context())
	}
	if n := b.takes(t, b.process, a, c); n != 2 {
		t.Errorf("%d calls", n)
	}
	b.TellUses(t.Context())
	<-other.uses
	if n := b.takes(t, other, a, c); n != 1 {
		t.Errorf("%d calls of the 2 that are left, of which one process gives half", n)
	}
}
