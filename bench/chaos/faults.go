package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"patchbay/internal/oauth/oauthtest"
)

// fault is something that goes wrong, until it is mended.
type fault struct {
	name string
	do   func(context.Context) error
	mend func(context.Context) error // nil: it mends by itself
}

func (w *world) faults() []fault {
	all := []fault{
		{"PostgreSQL is killed (-9)", func(context.Context) error { return w.engine.kill() }, nil},
		{"PostgreSQL is stopped and started", w.engine.stop, w.engine.start},
		{"PostgreSQL has no session left", func(context.Context) error { return w.engine.exhaust() }, func(context.Context) error { w.engine.relieve(); return nil }},
		{"each part from and to PostgreSQL takes 0.15 s", w.slow(150 * time.Millisecond), w.slow(0)},
		{"nothing from or to PostgreSQL", w.still(true), w.still(false)},
		{"connections to PostgreSQL are cut", func(context.Context) error { w.cable.cut(); return nil }, nil},
		{"the servers' listener is closed", w.up.down, w.up.up},
		{"webhooks' receivers fail", w.hooks(true), w.hooks(false)},
	}
	for _, one := range []struct {
		small
		name string
	}{{w.engine.disk, "PostgreSQL's disk is full"}, {w.files, "the disk of the data directories is full"}} {
		if one.mounted {
			all = append(all, fault{one.name, func(context.Context) error { return one.fill() }, func(context.Context) error { return one.empty() }})
		}
	}
	for how, name := range map[manner]string{
		drips: "servers answer byte by byte", wrongID: "servers answer other requests", truncates: "servers break off in the middle", mistypes: "servers answer with HTML",
		floods: "servers answer without end", hangs: "servers do not answer",
	} {
		all = append(all, fault{name, w.behaves(how), w.behaves(honest)})
	}
	for how, name := range map[oauthtest.Trouble]string{
		oauthtest.ServerError: "the token endpoint answers 500", oauthtest.Hang: "the token endpoint does not answer", oauthtest.DropAfterEffect: "the token endpoint's answers get lost",
		oauthtest.DeadGrant: "the token endpoint says invalid_grant", oauthtest.Page: "the token endpoint answers with HTML",
	} {
		all = append(all, fault{name, w.tokens(how), w.tokens(oauthtest.NoTrouble)})
	}
	for how, name := range map[providing]string{
		fails: "the organisations' provider answers 500", sleeps: "the organisations' provider does not answer", forgets: "the organisations' provider's answers get lost",
		strays: "the organisations' provider says that somebody else's people signed in",
	} {
		all = append(all, fault{name, w.identifies(how), w.identifies(provides)})
	}
	all = append(all, w.clocks()...)
	for i, r := range w.replicas {
		for how, word := range map[syscall.Signal]string{syscall.SIGKILL: "killed (-9)", syscall.SIGTERM: "ended (SIGTERM)"} {
			all = append(all, fault{fmt.Sprintf("process %d is %s", i+1, word), func(context.Context) error { return w.takeDown(r, how) }, func(context.Context) error { return r.start() }})
		}
	}
	all = slices.DeleteFunc(all, func(f fault) bool { return !strings.Contains(f.name, w.only) })
	slices.SortFunc(all, func(a, b fault) int { return strings.Compare(a.name, b.name) }) // so that a seed has one order
	return all
}

func (w *world) slow(d time.Duration) func(context.Context) error {
	return func(context.Context) error { w.cable.delay.Store(int64(d)); return nil }
}

func (w *world) still(yes bool) func(context.Context) error {
	return func(context.Context) error { w.cable.still.Store(yes); return nil }
}

func (w *world) hooks(fail bool) func(context.Context) error {
	return func(context.Context) error { w.up.hooks.fail.Store(fail); return nil }
}

func (w *world) behaves(how manner) func(context.Context) error {
	return func(context.Context) error { w.up.manner.Store(int32(how)); return nil }
}

func (w *world) tokens(how oauthtest.Trouble) func(context.Context) error {
	return func(context.Context) error {
		w.as.Set(func(b *oauthtest.Behaviour) { b.Token = how })
		return nil
	}
}

func (w *world) identifies(how providing) func(context.Context) error {
	return func(context.Context) error { w.provider.is(how); return nil }
}

// takeDown ends a process. One that is asked to end has to do so in good order, whatever else goes wrong.
func (w *world) takeDown(r *replica, how syscall.Signal) error {
	r.mu.Lock()
	asked := how == syscall.SIGTERM && r.ready
	r.mu.Unlock()
	if code := r.end(how); asked && code != 0 {
		w.tally.note("ends", fmt.Sprintf("a process that was asked to end ended with %d", code))
	}
	return nil
}

// Of the time that a fault has, so much it lasts; the rest is for what heals. In a long run several rounds are made, and from the second on
// two things go wrong at once.
const (
	share    = 0.6
	oneFault = 8 * time.Second
)

// breakThings lets one thing after the other go wrong, and counts them.
func (w *world) breakThings(ctx context.Context) map[string]int {
	dice := rand.New(rand.NewPCG(w.seed, 0)) //nolint:gosec // the order is to be had again
	faults, times := w.faults(), map[string]int{}
	if len(faults) == 0 {
		return times
	}
	each := min(oneFault, w.lasts/time.Duration(len(faults)))
	over := time.After(w.lasts)
	for round := 0; ; round++ {
		order := dice.Perm(len(faults))
		for i := range order {
			now := []fault{faults[order[i]]}
			if other := faults[order[(i+1)%len(order)]]; round > 0 && len(faults) > 1 {
				now = append(now, other)
			}
			for _, f := range now {
				w.happens(ctx, f.name, f.do)
				times[f.name]++
			}
			ended := w.pass(ctx, time.Duration(share*float64(each)), over)
			for _, f := range now {
				if f.mend != nil {
					w.happens(context.WithoutCancel(ctx), "mending: "+f.name, f.mend)
				}
			}
			if ended || w.pass(ctx, time.Duration((1-share)*float64(each)), over) {
				return times
			}
		}
	}
}

// happens does something, and tells where that could not be done: PostgreSQL may be down already when it is to be killed.
func (w *world) happens(ctx context.Context, name string, do func(context.Context) error) {
	if err := do(ctx); err != nil {
		fmt.Fprintf(w.out, "%s: %v\n", name, err)
	}
}

func (w *world) pass(ctx context.Context, d time.Duration, over <-chan time.Time) (ended bool) {
	select {
	case <-time.After(d):
		return false
	case <-over:
		return true
	case <-ctx.Done():
		return true
	}
}
