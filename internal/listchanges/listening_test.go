package listchanges_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/listchanges"
	"patchbay/internal/testing/fixture"
)

func TestKeeper_SyncsANotifiedChangeInBothEras(t *testing.T) {
	t.Parallel()
	for _, stateless := range []bool{false, true} {
		t.Run(fmt.Sprintf("stateless %v", stateless), func(t *testing.T) {
			t.Parallel()
			p := start(t, fixture.New(t))
			up := serve(t, stateless)
			c := p.addConnector(t, up.url)
			p.waitState(t, c, connectors.ListenListening, "")
			up.addTool("second")
			run := p.runQueued(t, c)
			if run.Trigger != connectors.TriggerListChanged || run.Counts.Added != 1 {
				t.Errorf("%+v", run)
			}
			l := p.listening(t, c)
			if l.Notified == 0 || l.LastNotifiedAt == nil || p.Stats().Streams != 1 {
				t.Errorf("%+v %+v", l, p.Stats())
			}
			within(t, "the sync is counted", func() bool { return p.Stats().Syncs == 1 }) // after it is queued
		})
	}
}

func TestKeeper_OneStreamSurvivesItsProcess(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *process){
		"dies": func(t *testing.T, p *process) {
			p.Die()
			p.setHeartbeat(t, "- interval '7 seconds'")
		},
		"stops": func(t *testing.T, p *process) { p.Stop(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			one, two := start(t, w), start(t, w)
			up := serve(t, false)
			c := one.addConnector(t, up.url)
			one.waitState(t, c, connectors.ListenListening, "")
			holder, other := one, two
			if two.Stats().Streams > 0 {
				holder, other = two, one
			}
			end(t, holder)
			if name == "dies" {
				up.addTool("missed")
			}
			must(t, w.St.System().Syncs().Heartbeat(t.Context(), w.Instance)) // as a live process does every two seconds
			within(t, "the other one listens", func() bool { return other.Stats().Streams == 1 })
			other.waitState(t, c, connectors.ListenListening, "")
			if name == "dies" {
				if run := other.runQueued(t, c); run.Counts.Added != 1 {
					t.Errorf("what was missed: %+v", run)
				}
			}
			up.addTool("second")
			if run := other.runQueued(t, c); run.Counts.Added != 1 {
				t.Errorf("%+v", run)
			}
			if most := up.maxStreams.Load(); most != 1 {
				t.Errorf("%d streams at once", most)
			}
		})
	}
}

func TestKeeper_RetakesStreamsNotTakenByOthers(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	one := start(t, w)
	up, other := serve(t, false), serve(t, false)
	c, changed := one.addConnector(t, up.url), one.addConnector(t, other.url)
	one.waitState(t, c, connectors.ListenListening, "")
	one.waitState(t, changed, connectors.ListenListening, "")

	one.setHeartbeat(t, "- interval '7 seconds'")
	must(t, w.St.System().Syncs().Heartbeat(t.Context(), w.Instance)) // another process, without streams
	d := connectors.DraftOf(changed)
	d.Timeout += time.Second
	_, err := w.Door().Connectors().Update(t.Context(), changed.ID, 0, d)
	must(t, err)
	must(t, w.St.System().Syncs().Heartbeat(t.Context(), one.instance))
	within(t, "both are listened to again", func() bool {
		held, err := w.St.System().Syncs().OwnedStreams(t.Context(), one.instance)
		return err == nil && len(held) == 2 && !held[0].Stale && !held[1].Stale
	})
	one.waitState(t, c, connectors.ListenListening, "")
	up.addTool("second")
	if run := one.runQueued(t, c); run.Counts.Added != 1 {
		t.Errorf("%+v", run)
	}
	if n := up.opened.Load(); n != 1 {
		t.Errorf("the stream was opened %d times", n)
	}
}

func TestStream_EndsWithItsConnector(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*process, connectors.Connector) error{
		"switched off": func(p *process, c connectors.Connector) error {
			d := connectors.DraftOf(c)
			d.Listen = connectors.ListenOff
			_, err := p.Door().Connectors().Update(t.Context(), c.ID, 0, d)
			return err
		},
		"disabled": func(p *process, c connectors.Connector) error {
			d := connectors.DraftOf(c)
			d.Enabled = false
			_, err := p.Door().Connectors().Update(t.Context(), c.ID, 0, d)
			return err
		},
		"deleted": func(p *process, c connectors.Connector) error { return p.Door().Connectors().Delete(t.Context(), c.ID) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, fixture.New(t))
			up := serve(t, false)
			c := p.addConnector(t, up.url)
			p.waitState(t, c, connectors.ListenListening, "")
			must(t, change(p, c))
			within(t, "the stream has ended", func() bool { return up.streams.Load() == 0 && p.Stats().Streams == 0 })
			p.waitState(t, c, "", "")
		})
	}
}

func TestStream_ReopensAfterNewSettings(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t))
	before, after := serve(t, false), serve(t, true)
	c := p.addConnector(t, before.url)
	p.waitState(t, c, connectors.ListenListening, "")
	d := connectors.DraftOf(c)
	d.URL = after.url
	_, err := p.Door().Connectors().Update(t.Context(), c.ID, 0, d)
	must(t, err)
	within(t, "the stream has moved", func() bool { return before.streams.Load() == 0 && after.streams.Load() == 1 })
}

func TestListChanges_BurstCausesOneSyncPerList(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t), func(o *listchanges.Options) { o.MinSyncInterval = time.Hour })
	say := make(chan string)
	c := p.addConnector(t, newTalkingServer(t, say).URL)
	for range 50 {
		say <- "notifications/tools/list_changed"
		say <- "notifications/prompts/list_changed"
		say <- "notifications/message"
	}
	within(t, "all was heard", func() bool { return p.Stats().Notified == 100 })
	p.runQueued(t, c)
	if n := p.Stats().Syncs; n > 2 {
		t.Errorf("%d syncs", n)
	}
}

func TestKeeper_LimitsStreams(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]func(*listchanges.Options){
		"of a tenant": func(o *listchanges.Options) { o.MaxPerTenant = 1 },
		"to a host":   func(o *listchanges.Options) { o.MaxPerHost = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, fixture.New(t), bound)
			up := serve(t, true)
			all := []connectors.Connector{p.addConnector(t, up.url), p.addConnector(t, up.url)}
			within(t, "one listens, and one waits", func() bool {
				states := []string{}
				for _, c := range all {
					l := p.listening(t, c)
					states = append(states, string(l.State)+" "+string(l.Reason))
				}
				slices.Sort(states)
				return slices.Equal(states, []string{"listening ", "waiting crowded"})
			})
		})
	}
}

func TestKeeper_FullProcessLeavesStreamsToOthers(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	one := start(t, w, func(o *listchanges.Options) { o.MaxStreams = 1 })
	up := serve(t, true)
	for range 2 {
		one.addConnector(t, up.url)
	}
	within(t, "one listens", func() bool { return one.Stats().Streams == 1 })
	two := start(t, w)
	within(t, "the other listens", func() bool { return two.Stats().Streams == 1 && up.streams.Load() == 2 })
}
