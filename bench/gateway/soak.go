package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// mix are the kinds of calls of a soak, in equal shares.
var mix = []task{
	{name: "1 KB JSON", size: 1 << 10}, {name: "1 KB SSE", size: 1 << 10, sse: true}, {name: "10 KB JSON", size: 10 << 10},
	{name: "10 KB SSE", size: 10 << 10, sse: true}, {name: "100 KB JSON", size: 100_000}, {name: "100 KB SSE", size: 100_000, sse: true},
	{name: "10 KB of arguments", size: 1 << 10, note: 10 << 10}, {name: "100 KB of arguments", size: 1 << 10, note: 100_000},
}

// soak makes many calls of all kinds, and tells what is left behind.
func (o options) soak(ctx context.Context) error {
	b, err := o.begin(ctx)
	if err != nil {
		return err
	}
	defer b.end()
	if _, err := b.load.run(ctx, b.ours(20), mix[0], 1000); err != nil {
		return err
	}
	made, began := 1000, time.Now()
	threads, files := b.patchbay.open()
	memory, _ := b.patchbay.memory()
	fmt.Fprintf(b.out, "at first: %d threads, %d open files, %d MiB\n", threads, files, memory>>20)
	share := max(min(o.calls/len(mix), 10_000), 1)
	for made < o.calls {
		for _, t := range mix {
			if _, err := b.load.run(ctx, b.ours(20), t, share); err != nil {
				return err
			}
			made += share
		}
		fmt.Fprintf(b.out, "%d calls, %.0f/s\n", made, float64(made)/time.Since(began).Seconds())
	}
	return b.left(ctx, made)
}

// left compares what the MCP server has seen with what was called.
func (b *bench) left(ctx context.Context, made int) error {
	seen, err := b.seen(ctx)
	if err != nil {
		return err
	}
	threads, files := b.patchbay.open()
	memory, _ := b.patchbay.memory()
	fmt.Fprintf(b.out, "at last: %d threads, %d open files, %d MiB; the server saw %d calls, %d of them different, %d twice, %d open, %d streams, %d at once\n",
		threads, files, memory>>20, seen.Calls, seen.Different, seen.Twice, seen.Open, seen.Streams, seen.Most)
	if seen.Calls != int64(made) || seen.Twice != 0 || seen.Open != 0 || seen.Streams != 0 {
		return fmt.Errorf("%d calls were made", made)
	}
	return nil
}

func (b *bench) seen(ctx context.Context) (s upstreamStats, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.upstream.address+"/stats", nil)
	if err != nil {
		return s, err
	}
	response, err := b.load.client.Do(r)
	if err != nil {
		return s, err
	}
	defer func() { _ = response.Body.Close() }()
	return s, json.NewDecoder(response.Body).Decode(&s)
}
