package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/db"
)

// benchRound are the times of one round's syncs, from due to done.
type benchRound struct {
	all, small []time.Duration
}

func (r *benchRound) add(took time.Duration, small bool) {
	r.all = append(r.all, took)
	if small {
		r.small = append(r.small, took)
	}
}

func (r *benchRound) count() int { return len(r.all) }

// benchCost is what was used until a moment, or between two.
type benchCost struct {
	own, postgres, servers time.Duration // CPU; servers: of a process of their own
	queries, requests, wal int64
	backends               map[string]time.Duration
}

func (b *benching) cost(ctx context.Context) (c benchCost, err error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return c, err
	}
	c.own = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	var pid int
	err = b.pool.QueryRow(ctx, "select pg_backend_pid(), (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&pid, &c.wal)
	c.backends = postgresCPU(strconv.Itoa(pid))
	c.servers = b.servers.cpu()
	c.queries, c.requests = b.queries.n.Load(), b.servers.requests.Load()
	return c, err
}

// since is what was used since an earlier moment. Processes that ended in between are left out.
func (c benchCost) since(before benchCost) benchCost {
	for pid, used := range c.backends {
		c.postgres += used - before.backends[pid]
	}
	c.own -= before.own
	c.servers -= before.servers
	c.queries -= before.queries
	c.requests -= before.requests
	c.wal -= before.wal
	return c
}

// measure runs the rounds. The first ones are not told: they find all tools new, and fill caches.
func (b *benching) measure(ctx context.Context, p program) error {
	many := b.Connectors + b.Small
	for range 2 {
		if _, err := b.round(ctx, many); err != nil {
			return err
		}
		if _, err := b.pool.Exec(ctx, "analyze"); err != nil {
			return err
		}
	}
	return b.profiled(func() error {
		if b.Steady > 0 {
			return b.steady(ctx, p)
		}
		if b.Only != "changed" {
			if err := b.rounds(ctx, p, "unchanged", many, 0); err != nil {
				return err
			}
		}
		if b.Only != "unchanged" {
			return b.rounds(ctx, p, "every tool changed", many, 1)
		}
		return nil
	})
}

func (b *benching) round(ctx context.Context, many int) (*benchRound, error) {
	at, err := b.due(ctx)
	if err != nil {
		return nil, err
	}
	return b.await(ctx, at, many)
}

func (b *benching) rounds(ctx context.Context, p program, kind string, many int, change int64) error {
	for range b.Rounds {
		b.servers.edition.Add(change)
		asked := b.servers.requests.Load() // the first may be asked at once
		due, err := b.due(ctx)
		if err != nil {
			return err
		}
		before, err := b.cost(ctx) // without what it cost to have all be due at once
		if err != nil {
			return err
		}
		before.requests = asked
		r, err := b.await(ctx, due, many)
		if err != nil {
			return err
		}
		after, err := b.cost(ctx)
		if err != nil {
			return err
		}
		r.say(p, kind, after.since(before))
	}
	return nil
}

func (r *benchRound) say(p program, kind string, c benchCost) {
	slices.Sort(r.all)
	slices.Sort(r.small)
	n := len(r.all)
	last := r.all[n-1]
	p.say("%s: %d syncs in %.2f s, %.0f a second; due to done p50 %s, p99 %s", kind, n, last.Seconds(), float64(n)/last.Seconds(), at(r.all, 50), at(r.all, 99))
	if len(r.small) > 0 {
		p.say("  the small tenant's: p50 %s, the last %s", at(r.small, 50), r.small[len(r.small)-1].Round(time.Millisecond))
	}
	each := func(d time.Duration) string { return fmt.Sprintf("%.0f µs", float64(d.Microseconds())/float64(n)) }
	p.say("  for each: CPU here %s, of PostgreSQL %s; %.2f queries, %.2f requests, %d bytes of the log", each(c.own), each(c.postgres),
		float64(c.queries)/float64(n), float64(c.requests)/float64(n), c.wal/int64(n))
}

func at(sorted []time.Duration, percent int) time.Duration {
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)].Round(time.Millisecond)
}

// steady has connectors be due every now and then, at moments that next_due makes, as on an ordinary day.
func (b *benching) steady(ctx context.Context, p program) error {
	const day = 15 * time.Minute
	if _, err := b.asSystem(ctx, "update connector_clock set due_at = date_bin(interval '5 seconds', now() + random() * $1::interval, timestamptz 'epoch')", day); err != nil {
		return err
	}
	if err := b.settle(ctx); err != nil {
		return err
	}
	before, err := b.cost(ctx)
	if err != nil {
		return err
	}
	end, syncs := time.After(b.Steady), 0
	for going := true; going; {
		select {
		case <-b.done:
			syncs++
		case <-end:
			going = false
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	after, err := b.cost(ctx)
	if err != nil {
		return err
	}
	c := after.since(before)
	share := func(d time.Duration) float64 { return 100 * d.Seconds() / b.Steady.Seconds() }
	p.say("steady: %d syncs in %s; CPU here %.2f %% of a core, of PostgreSQL %.2f %%; resident memory %d MiB; %d bytes of the log for each",
		syncs, b.Steady, share(c.own), share(c.postgres), resident()>>20, c.wal/int64(max(syncs, 1)))
	if b.Apart {
		p.say("  the servers beside it: %.2f %% of a core", share(c.servers))
	}
	return nil
}

// settle clears away what it took to have all be synced at once, which no ordinary day does.
func (b *benching) settle(ctx context.Context) error {
	debug.FreeOSMemory()
	conn, err := b.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	for _, statement := range []string{"reset role", "vacuum (analyze)", "set role " + db.AppRole} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// benchQueries counts statements. It is a tracer of pgx.
type benchQueries struct{ n atomic.Int64 }

func (q *benchQueries) count(sql string) {
	for _, envelope := range []string{"begin", "commit", "rollback", "select set_config("} {
		if strings.HasPrefix(sql, envelope) {
			return
		}
	}
	q.n.Add(1)
}

// TraceQueryStart counts a statement that travels alone.
func (q *benchQueries) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	q.count(data.SQL)
	return ctx
}

// TraceQueryEnd does nothing.
func (q *benchQueries) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart does nothing.
func (q *benchQueries) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery counts a statement of a batch.
func (q *benchQueries) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	q.count(data.SQL)
}

// TraceBatchEnd does nothing.
func (q *benchQueries) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// postgresCPU is what the processes of the server used so far that has the backend; none where it runs elsewhere.
func postgresCPU(backend string) map[string]time.Duration {
	used := map[string]time.Duration{}
	own := processStat(backend)
	if own == nil {
		return used
	}
	postmaster := own[1] // ppid
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		stat := processStat(e.Name())
		if stat == nil || stat[1] != postmaster && e.Name() != postmaster {
			continue
		}
		used[e.Name()] = statCPU(stat)
	}
	return used
}

// statCPU is what a process has used, to within 10 ms; 0: there is no such process.
func statCPU(stat []string) time.Duration {
	if stat == nil {
		return 0
	}
	user, _ := strconv.Atoi(stat[11])
	system, _ := strconv.Atoi(stat[12])
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100 on every Linux
}

// processStat is the rest of /proc/PID/stat after the process's name, which may hold spaces; nil: there is no such process.
func processStat(pid string) []string {
	raw, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil || pid[0] < '0' || pid[0] > '9' {
		return nil
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	if fields := strings.Fields(rest); len(fields) > 12 {
		return fields
	}
	return nil
}

// resident is this process's memory in bytes; 0 where that is not known.
func resident() int64 {
	raw, _ := os.ReadFile("/proc/self/statm")
	if fields := strings.Fields(string(raw)); len(fields) > 1 {
		pages, _ := strconv.ParseInt(fields[1], 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}
