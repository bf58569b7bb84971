package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// turnCost is the cost of one turn of a target.
type turnCost struct {
	cpu      time.Duration // per call
	rate     float64       // calls per second
	postgres time.Duration // PostgreSQL's CPU per call
}

var (
	callKinds = []callKind{
		{name: "tools/call, 1 KB JSON", size: 1 << 10}, {name: "tools/call, 1 KB SSE", size: 1 << 10, sse: true},
		{name: "tools/call, 10 KB JSON", size: 10 << 10}, {name: "tools/call, 10 KB SSE", size: 10 << 10, sse: true},
	}
	relayKinds = []callKind{{name: "tools/call, 100 KiB JSON", size: 100 << 10}, {name: "tools/call, 100 KiB SSE", size: 100 << 10, sse: true}}
	listKinds  = map[int]callKind{20: {name: "tools/list, 20 tools", list: true}, 1000: {name: "tools/list, 1 000 tools", list: true}}
)

// measureAll prints the table.
func (o options) measureAll(ctx context.Context) error {
	b, err := o.startBench(ctx)
	if err != nil {
		return err
	}
	defer b.stopAll()
	tasks := slices.Concat(b.filterKinds("call", callKinds), b.filterKinds("relay", relayKinds))
	if len(tasks) > 0 {
		if err := b.warmUp(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintln(b.out, "| what | the proxy: CPU (spread) | calls/s | ours: CPU (spread) | calls/s | CPU against the proxy (spread) | throughput against it | PostgreSQL's CPU |")
	fmt.Fprintln(b.out, "|---|---|---|---|---|---|---|---|")
	for _, t := range tasks {
		if _, err := b.compareSides(ctx, b.proxySide(20), b.patchbaySide(20), t); err != nil {
			return err
		}
	}
	if len(b.filterKinds("api", []callKind{{}})) > 0 {
		if err := b.compareWithAPI(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintln(b.out, "\nNo reply of either side was lost or swapped.\n\n| what | lists/s (spread) | CPU of one |\n|---|---|---|")
	for _, n := range []int{20, 1000} {
		if len(b.filterKinds("list", []callKind{listKinds[n]})) == 0 {
			continue
		}
		if err := b.measureList(ctx, n); err != nil {
			return err
		}
	}
	if len(b.filterKinds("listen", []callKind{{}})) == 0 {
		return nil
	}
	return b.measureListeners(ctx)
}

func (b *bench) filterKinds(kind string, tasks []callKind) []callKind {
	if b.only == "" || slices.Contains(strings.Split(b.only, ","), kind) {
		return tasks
	}
	return nil
}

// warmUp excludes one-time costs: connections, query plans, page faults and caches.
func (b *bench) warmUp(ctx context.Context) error {
	const turns = 3
	for range turns {
		for _, s := range []target{b.proxySide(20), b.patchbaySide(20)} {
			if _, err := b.measureTurn(ctx, s, callKinds[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareSides measures both targets in turns, and returns the ratios of their CPU. The first turn of each is a warm-up.
func (b *bench) compareSides(ctx context.Context, base, measured target, t callKind) (ratios []float64, err error) {
	var theirs, ours []turnCost
	for round := range b.rounds + 1 {
		a, err := b.measureTurn(ctx, base, t)
		if err != nil {
			return nil, err
		}
		c, err := b.measureTurn(ctx, measured, t)
		if err != nil {
			return nil, err
		}
		if round > 0 {
			theirs, ours = append(theirs, a), append(ours, c)
		}
	}
	var speed []float64
	for i := range ours {
		ratios = append(ratios, float64(ours[i].cpu)/float64(theirs[i].cpu))
		speed = append(speed, ours[i].rate/theirs[i].rate)
	}
	fmt.Fprintf(b.out, "| %s | %s | %.0f | %s | %.0f | %s | %s | %v |\n", t.name,
		formatSpread(theirs, turnCPU), median(theirs, turnRate), formatSpread(ours, turnCPU), median(ours, turnRate), formatRatioSpread(ratios), formatRatioSpread(speed),
		time.Duration(median(ours, func(t turnCost) float64 { return float64(t.postgres) })).Round(time.Microsecond))
	return ratios, nil
}

func (b *bench) measureList(ctx context.Context, n int) error {
	var turns []turnCost
	for round := range b.rounds + 1 {
		made, err := b.measureTurn(ctx, b.patchbaySide(n), listKinds[n])
		if err != nil {
			return err
		}
		if round > 0 {
			turns = append(turns, made)
		}
	}
	fmt.Fprintf(b.out, "| %s | %.0f (%.0f–%.0f) | %s |\n", listKinds[n].name, median(turns, turnRate), minimum(turns, turnRate), maximum(turns, turnRate), formatSpread(turns, turnCPU))
	return nil
}

// pauseAfterTurn separates the turns, so that deferred work counts for its own target. The call log is written
// every 100 ms.
const pauseAfterTurn = 300 * time.Millisecond

func (b *bench) measureTurn(ctx context.Context, s target, t callKind) (turnCost, error) {
	before, err := s.server.cpuTime()
	if err != nil {
		return turnCost{}, err
	}
	children := b.patchbay.childrenCPU()
	took, err := b.load.run(ctx, s, t, b.calls)
	if err != nil {
		return turnCost{}, err
	}
	select {
	case <-time.After(pauseAfterTurn):
	case <-ctx.Done():
	}
	after, err := s.server.cpuTime()
	if err != nil {
		return turnCost{}, err
	}
	n := time.Duration(b.calls)
	return turnCost{cpu: (after - before) / n, rate: float64(b.calls) / took.Seconds(), postgres: (b.patchbay.childrenCPU() - children) / n}, nil
}

func turnCPU(t turnCost) float64  { return float64(t.cpu) }
func turnRate(t turnCost) float64 { return t.rate }

func sortedBy(turns []turnCost, of func(turnCost) float64) []float64 {
	all := make([]float64, len(turns))
	for i, t := range turns {
		all[i] = of(t)
	}
	slices.Sort(all)
	return all
}

func median(turns []turnCost, of func(turnCost) float64) float64 {
	return sortedBy(turns, of)[len(turns)/2]
}
func minimum(turns []turnCost, of func(turnCost) float64) float64 { return sortedBy(turns, of)[0] }
func maximum(turns []turnCost, of func(turnCost) float64) float64 {
	return sortedBy(turns, of)[len(turns)-1]
}

func formatSpread(turns []turnCost, of func(turnCost) float64) string {
	us := func(v float64) float64 { return v / float64(time.Microsecond) }
	return fmt.Sprintf("%.0f µs (%.0f–%.0f)", us(median(turns, of)), us(minimum(turns, of)), us(maximum(turns, of)))
}

func formatRatioSpread(ratios []float64) string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", medianRatio(ratios), slices.Min(ratios), slices.Max(ratios))
}

func medianRatio(ratios []float64) float64 {
	return slices.Sorted(slices.Values(ratios))[len(ratios)/2]
}
