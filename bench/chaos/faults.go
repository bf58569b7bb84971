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

// fault is a fault to inject, and its repair.
type fault struct {
	name   string
	inject func(context.Context) error
	repair func(context.Context) error // nil: it ends by itself
}

func (w *world) allFaults() []fault {
	all := []fault{
		{"PostgreSQL is killed (-9)", func(context.Context) error { return w.engine.killPostmaster() }, nil},
		{"PostgreSQL is stopped and started", w.engine.stopCluster, w.engine.startCluster},
		{"PostgreSQL has no session left", func(context.Context) error { return w.engine.exhaustConnections() }, func(context.Context) error { w.engine.releaseConnections(); return nil }},
		{"each part from and to PostgreSQL takes 0.15 s", w.setDelay(150 * time.Millisecond), w.setDelay(0)},
		{"nothing from or to PostgreSQL", w.setPaused(true), w.setPaused(false)},
		{"connections to PostgreSQL are cut", func(context.Context) error { w.cable.closeConns(); return nil }, nil},
		{"the servers' listener is closed", w.up.stopListening, w.up.startListening},
		{"webhooks' receivers fail", w.setHooksFailing(true), w.setHooksFailing(false)},
	}
	for _, disk := range []struct {
		smallDisk
		name string
	}{{w.engine.disk, "PostgreSQL's disk is full"}, {w.files, "the disk of the data directories is full"}} {
		if disk.mounted {
			all = append(all, fault{disk.name, func(context.Context) error { return disk.fillUp() }, func(context.Context) error { return disk.freeSpace() }})
		}
	}
	for mode, name := range map[serverMode]string{
		serverDrips: "servers answer byte by byte", serverWrongID: "servers answer other requests", serverTruncates: "servers break off in the middle", serverMistypes: "servers answer with HTML",
		serverFloods: "servers answer without end", serverHangs: "servers do not answer",
	} {
		all = append(all, fault{name, w.setServerMode(mode), w.setServerMode(serverHonest)})
	}
	for mode, name := range map[oauthtest.Trouble]string{
		oauthtest.ServerError: "the token endpoint answers 500", oauthtest.Hang: "the token endpoint does not answer", oauthtest.DropAfterEffect: "the token endpoint's answers get lost",
		oauthtest.DeadGrant: "the token endpoint says invalid_grant", oauthtest.Page: "the token endpoint answers with HTML",
	} {
		all = append(all, fault{name, w.setTokenMode(mode), w.setTokenMode(oauthtest.NoTrouble)})
	}
	for mode, name := range map[providerMode]string{
		providerFails: "the organisations' provider answers 500", providerHangs: "the organisations' provider does not answer", providerDropsReply: "the organisations' provider's answers get lost",
		providerMixesUp: "the organisations' provider says that somebody else's people signed in",
	} {
		all = append(all, fault{name, w.setProviderMode(mode), w.setProviderMode(providerHonest)})
	}
	all = append(all, w.clockFaults()...)
	for i, r := range w.replicas {
		for signal, word := range map[syscall.Signal]string{syscall.SIGKILL: "killed (-9)", syscall.SIGTERM: "ended (SIGTERM)"} {
			all = append(all, fault{fmt.Sprintf("process %d is %s", i+1, word), func(context.Context) error { return w.stopReplica(r, signal) }, func(context.Context) error { return r.startProcess() }})
		}
	}
	all = slices.DeleteFunc(all, func(f fault) bool { return !strings.Contains(f.name, w.only) })
	slices.SortFunc(all, func(a, b fault) int { return strings.Compare(a.name, b.name) }) // for a fixed order of each seed
	return all
}

func (w *world) setDelay(d time.Duration) func(context.Context) error {
	return func(context.Context) error { w.cable.delay.Store(int64(d)); return nil }
}

func (w *world) setPaused(paused bool) func(context.Context) error {
	return func(context.Context) error { w.cable.paused.Store(paused); return nil }
}

func (w *world) setHooksFailing(fail bool) func(context.Context) error {
	return func(context.Context) error { w.up.hooks.fail.Store(fail); return nil }
}

func (w *world) setServerMode(mode serverMode) func(context.Context) error {
	return func(context.Context) error { w.up.mode.Store(int32(mode)); return nil }
}

func (w *world) setTokenMode(mode oauthtest.Trouble) func(context.Context) error {
	return func(context.Context) error {
		w.as.Set(func(b *oauthtest.Behaviour) { b.Token = mode })
		return nil
	}
}

func (w *world) setProviderMode(mode providerMode) func(context.Context) error {
	return func(context.Context) error { w.provider.setMode(mode); return nil }
}

// stopReplica ends a process. After SIGTERM a ready process must exit cleanly.
func (w *world) stopReplica(r *replica, signal syscall.Signal) error {
	r.mu.Lock()
	expectClean := signal == syscall.SIGTERM && r.ready
	r.mu.Unlock()
	if code := r.stopProcess(signal); expectClean && code != 0 {
		w.tally.recordProblem("ends", fmt.Sprintf("a process that was asked to end ended with %d", code))
	}
	return nil
}

// Share of an interval that a fault lasts; the rest is for recovery. From the second round on there are two
// faults at once.
const (
	faultShare   = 0.6
	maxFaultTime = 8 * time.Second
)

// injectFaults injects faults in rounds, and counts them.
func (w *world) injectFaults(ctx context.Context) map[string]int {
	dice := rand.New(rand.NewPCG(w.seed, 0)) //nolint:gosec // the order is to be had again
	faults, times := w.allFaults(), map[string]int{}
	if len(faults) == 0 {
		return times
	}
	interval := min(maxFaultTime, w.length/time.Duration(len(faults)))
	deadline := time.After(w.length)
	for round := 0; ; round++ {
		order := dice.Perm(len(faults))
		for i := range order {
			current := []fault{faults[order[i]]}
			if other := faults[order[(i+1)%len(order)]]; round > 0 && len(faults) > 1 {
				current = append(current, other)
			}
			w.outages.Begin()
			for _, f := range current {
				w.runStep(ctx, f.name, f.inject)
				times[f.name]++
			}
			ended := w.waitFor(ctx, time.Duration(faultShare*float64(interval)), deadline)
			for _, f := range current {
				if f.repair != nil {
					w.runStep(context.WithoutCancel(ctx), "mending: "+f.name, f.repair)
				}
			}
			if ended || w.waitRecovery(ctx, time.Duration((1-faultShare)*float64(interval)), deadline) {
				return times
			}
		}
	}
}

// runStep prints an error: PostgreSQL may already be down when it is to be killed.
func (w *world) runStep(ctx context.Context, name string, do func(context.Context) error) {
	if err := do(ctx); err != nil {
		fmt.Fprintf(w.out, "%s: %v\n", name, err)
	}
}

// waitRecovery waits for d, and ends the outage if the processes get ready meanwhile.
func (w *world) waitRecovery(ctx context.Context, d time.Duration, deadline <-chan time.Time) (ended bool) {
	start := time.Now()
	w.endOutage(ctx, d)
	return w.waitFor(ctx, d-time.Since(start), deadline)
}

func (w *world) waitFor(ctx context.Context, d time.Duration, deadline <-chan time.Time) (ended bool) {
	select {
	case <-time.After(d):
		return false
	case <-deadline:
		return true
	case <-ctx.Done():
		return true
	}
}
