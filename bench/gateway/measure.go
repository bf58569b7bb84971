package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// turn is what one turn of one side has cost.
type turn struct {
	cpu  time.Duration // for each call
	rate float64       // calls per second
	more time.Duration // PostgreSQL's CPU for each call
}

var (
	calls = []task{
		{name: "tools/call, 1 KB JSON", size: 1 << 10}, {name: "tools/call, 1 KB SSE", size: 1 << 10, sse: true},
		{name: "tools/call, 10 KB JSON", size: 10 << 10}, {name: "tools/call, 10 KB SSE", size: 10 << 10, sse: true},
	}
	relays = []task{{name: "tools/call, 100 KiB JSON", size: 100 << 10}, {name: "tools/call, 100 KiB SSE", size: 100 << 10, sse: true}}
	lists  = map[int]task{20: {name: "tools/list, 20 tools", list: true}, 1000: {name: "tools/list, 1 000 tools", list: true}}
)

// measure prints the table.
func (o options) measure(ctx context.Context) error {
	b, err := o.begin(ctx)
	if err != nil {
		return err
	}
	defer b.end()
	tasks := slices.Concat(b.wanted("call", calls), b.wanted("relay", relays))
	if len(tasks) > 0 {
		if err := b.warm(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintln(b.out, "| what | the proxy: CPU (spread) | calls/s | ours: CPU (spread) | calls/s | CPU against the proxy (spread) | throughput against it | PostgreSQL's CPU |")
	fmt.Fprintln(b.out, "|---|---|---|---|---|---|---|---|")
	for _, t := range tasks {
		if err := b.compare(ctx, t); err != nil {
			return err
		}
	}
	fmt.Fprintln(b.out, "\nNo reply of either side was lost or swapped.\n\n| what | lists/s (spread) | CPU of one |\n|---|---|---|")
	for _, n := range []int{20, 1000} {
		if len(b.wanted("list", []task{lists[n]})) == 0 {
			continue
		}
		if err := b.listing(ctx, n); err != nil {
			return err
		}
	}
	if len(b.wanted("listen", []task{{}})) == 0 {
		return nil
	}
	return b.listening(ctx)
}

func (b *bench) wanted(kind string, tasks []task) []task {
	if b.only == "" || slices.Contains(strings.Split(b.only, ","), kind) {
		return tasks
	}
	return nil
}

// warm has both sides do for the first time what is no call's cost: connections, PostgreSQL's plans, pages and caches, the program's own clock.
func (b *bench) warm(ctx context.Context) error {
	const turns = 3
	for range turns {
		for _, s := range []side{b.theirs(20), b.ours(20)} {
			if _, err := b.turn(ctx, s, calls[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare lets both sides take turns. The first turn of each warms up.
func (b *bench) compare(ctx context.Context, t task) error {
	var theirs, ours []turn
	for round := range b.rounds + 1 {
		a, err := b.turn(ctx, b.theirs(20), t)
		if err != nil {
			return err
		}
		c, err := b.turn(ctx, b.ours(20), t)
		if err != nil {
			return err
		}
		if round > 0 {
			theirs, ours = append(theirs, a), append(ours, c)
		}
	}
	var ratio, speed []float64
	for i := range ours {
		ratio = append(ratio, float64(ours[i].cpu)/float64(theirs[i].cpu))
		speed = append(speed, ours[i].rate/theirs[i].rate)
	}
	fmt.Fprintf(b.out, "| %s | %s | %.0f | %s | %.0f | %s | %s | %v |\n", t.name,
		spread(theirs, cpuOf), middle(theirs, rateOf), spread(ours, cpuOf), middle(ours, rateOf), spreadOf(ratio), spreadOf(speed),
		time.Duration(middle(ours, func(t turn) float64 { return float64(t.more) })).Round(time.Microsecond))
	return nil
}

func (b *bench) listing(ctx context.Context, n int) error {
	var turns []turn
	for round := range b.rounds + 1 {
		made, err := b.turn(ctx, b.ours(n), lists[n])
		if err != nil {
			return err
		}
		if round > 0 {
			turns = append(turns, made)
		}
	}
	fmt.Fprintf(b.out, "| %s | %.0f (%.0f–%.0f) | %s |\n", lists[n].name, middle(turns, rateOf), lowest(turns, rateOf), highest(turns, rateOf), spread(turns, cpuOf))
	return nil
}

// rest is how long a side is left alone behind its turn: what it writes later costs it, and not the other one. The history writes every
// tenth of a second.
const rest = 300 * time.Millisecond

func (b *bench) turn(ctx context.Context, s side, t task) (turn, error) {
	before, err := s.server.cpu()
	if err != nil {
		return turn{}, err
	}
	children := b.patchbay.childrenCPU()
	took, err := b.load.run(ctx, s, t, b.calls)
	if err != nil {
		return turn{}, err
	}
	select {
	case <-time.After(rest):
	case <-ctx.Done():
	}
	after, err := s.server.cpu()
	if err != nil {
		return turn{}, err
	}
	n := time.Duration(b.calls)
	return turn{cpu: (after - before) / n, rate: float64(b.calls) / took.Seconds(), more: (b.patchbay.childrenCPU() - children) / n}, nil
}

func cpuOf(t turn) float64  { return float64(t.cpu) }
func rateOf(t turn) float64 { return t.rate }

func sorted(turns []turn, of func(turn) float64) []float64 {
	all := make([]float64, len(turns))
	for i, t := range turns {
		all[i] = of(t)
	}
	slices.Sort(all)
	return all
}

func middle(turns []turn, of func(turn) float64) float64  { return sorted(turns, of)[len(turns)/2] }
func lowest(turns []turn, of func(turn) float64) float64  { return sorted(turns, of)[0] }
func highest(turns []turn, of func(turn) float64) float64 { return sorted(turns, of)[len(turns)-1] }

func spread(turns []turn, of func(turn) float64) string {
	us := func(v float64) float64 { return v / float64(time.Microsecond) }
	return fmt.Sprintf("%.0f µs (%.0f–%.0f)", us(middle(turns, of)), us(lowest(turns, of)), us(highest(turns, of)))
}

func spreadOf(ratios []float64) string {
	all := slices.Sorted(slices.Values(ratios))
	return fmt.Sprintf("%.2f (%.2f–%.2f)", all[len(all)/2], all[0], all[len(all)-1])
}
