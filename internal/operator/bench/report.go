package bench

import (
	"context"
	"fmt"
	"io"
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

// round has the durations of one round's syncs, from due to done.
type round struct {
	all, small []time.Duration
}

func (r *round) addSync(took time.Duration, small bool) {
	r.all = append(r.all, took)
	if small {
		r.small = append(r.small, took)
	}
}

func (r *round) syncCount() int { return len(r.all) }

// cost is what was used until a time, or between two times.
type cost struct {
	self, postgres, servers time.Duration // CPU; servers: of their separate process
	queries, requests, wal  int64
	backends                map[string]time.Duration
}

func (b *benchmark) measureCost(ctx context.Context) (c cost, err error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return c, err
	}
	c.self = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	var pid int
	err = b.pool.QueryRow(ctx, "select pg_backend_pid(), (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&pid, &c.wal)
	c.backends = postgresCPU(strconv.Itoa(pid))
	c.servers = b.servers.processCPU()
	c.queries, c.requests = b.queries.n.Load(), b.servers.requests.Load()
	return c, err
}

// minus is the difference to an earlier cost. Processes that ended in between are left out.
func (c cost) minus(before cost) cost {
	for pid, used := range c.backends {
		c.postgres += used - before.backends[pid]
	}
	c.self -= before.self
	c.servers -= before.servers
	c.queries -= before.queries
	c.requests -= before.requests
	c.wal -= before.wal
	return c
}

// runBenchmark runs the rounds. The first ones are not printed: they find all tools new, and fill caches.
func (b *benchmark) runBenchmark(ctx context.Context) error {
	many := b.Connectors + b.Small
	for range 2 {
		if _, err := b.runRound(ctx, many); err != nil {
			return err
		}
		if _, err := b.pool.Exec(ctx, "analyze"); err != nil {
			return err
		}
	}
	return b.withProfile(func() error {
		if b.Steady > 0 {
			return b.runSteady(ctx)
		}
		if b.Only != "changed" {
			if err := b.runRounds(ctx, "unchanged", many, 0); err != nil {
				return err
			}
		}
		if b.Only != "unchanged" {
			return b.runRounds(ctx, "every tool changed", many, 1)
		}
		return nil
	})
}

func (b *benchmark) runRound(ctx context.Context, many int) (*round, error) {
	at, err := b.makeDue(ctx)
	if err != nil {
		return nil, err
	}
	return b.awaitRound(ctx, at, many)
}

func (b *benchmark) runRounds(ctx context.Context, kind string, many int, change int64) error {
	for range b.Rounds {
		b.servers.toolsVersion.Add(change)
		asked := b.servers.requests.Load() // some requests may start before the cost is read
		due, err := b.makeDue(ctx)
		if err != nil {
			return err
		}
		before, err := b.measureCost(ctx) // after the statement that makes all due
		if err != nil {
			return err
		}
		before.requests = asked
		r, err := b.awaitRound(ctx, due, many)
		if err != nil {
			return err
		}
		after, err := b.measureCost(ctx)
		if err != nil {
			return err
		}
		r.printRound(b.Stdout, kind, after.minus(before))
	}
	return nil
}

func (r *round) printRound(out io.Writer, kind string, c cost) {
	slices.Sort(r.all)
	slices.Sort(r.small)
	n := len(r.all)
	last := r.all[n-1]
	printLine(out, "%s: %d syncs in %.2f s, %.0f a second; due to done p50 %s, p99 %s", kind, n, last.Seconds(), float64(n)/last.Seconds(), percentile(r.all, 50), percentile(r.all, 99))
	if len(r.small) > 0 {
		printLine(out, "  the small tenant's: p50 %s, the last %s", percentile(r.small, 50), r.small[len(r.small)-1].Round(time.Millisecond))
	}
	each := func(d time.Duration) string { return fmt.Sprintf("%.0f µs", float64(d.Microseconds())/float64(n)) }
	printLine(out, "  for each: CPU here %s, of PostgreSQL %s; %.2f queries, %.2f requests, %d bytes of the log", each(c.self), each(c.postgres),
		float64(c.queries)/float64(n), float64(c.requests)/float64(n), c.wal/int64(n))
}

func percentile(sorted []time.Duration, percent int) time.Duration {
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)].Round(time.Millisecond)
}

// runSteady makes connectors due over time, by next_due, as in production.
func (b *benchmark) runSteady(ctx context.Context) error {
	const day = 15 * time.Minute
	if _, err := b.execAsSystem(ctx, "update connector_clock set due_at = date_bin(interval '5 seconds', now() + random() * $1::interval, timestamptz 'epoch')", day); err != nil {
		return err
	}
	if err := b.resetBacklog(ctx); err != nil {
		return err
	}
	before, err := b.measureCost(ctx)
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
	after, err := b.measureCost(ctx)
	if err != nil {
		return err
	}
	c := after.minus(before)
	share := func(d time.Duration) float64 { return 100 * d.Seconds() / b.Steady.Seconds() }
	printLine(b.Stdout, "steady: %d syncs in %s; CPU here %.2f %% of a core, of PostgreSQL %.2f %%; resident memory %d MiB; %d bytes of the log for each",
		syncs, b.Steady, share(c.self), share(c.postgres), residentMemory()>>20, c.wal/int64(max(syncs, 1)))
	if b.Apart {
		printLine(b.Stdout, "  the servers beside it: %.2f %% of a core", share(c.servers))
	}
	return nil
}

// resetBacklog cleans up after a round of all connectors at once, which production does not have.
func (b *benchmark) resetBacklog(ctx context.Context) error {
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

// queryCounter counts statements, as a tracer of pgx.
type queryCounter struct{ n atomic.Int64 }

func (q *queryCounter) countQuery(sql string) {
	for _, envelope := range []string{"begin", "commit", "rollback", "select set_config("} {
		if strings.HasPrefix(sql, envelope) {
			return
		}
	}
	q.n.Add(1)
}

// TraceQueryStart counts a single statement.
func (q *queryCounter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	q.countQuery(data.SQL)
	return ctx
}

// TraceQueryEnd does nothing.
func (q *queryCounter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart does nothing.
func (q *queryCounter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery counts a statement of a batch.
func (q *queryCounter) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	q.countQuery(data.SQL)
}

// TraceBatchEnd does nothing.
func (q *queryCounter) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// postgresCPU is the CPU time of the processes of the backend's server; nil if it runs on another machine.
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

// statCPU is a process's CPU time, to within 10 ms; 0: there is no such process.
func statCPU(stat []string) time.Duration {
	if stat == nil {
		return 0
	}
	user, _ := strconv.Atoi(stat[11])
	system, _ := strconv.Atoi(stat[12])
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100 on every Linux
}

// processStat is the part of /proc/PID/stat after the process's name, which may contain spaces; nil: there is
// no such process.
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

// residentMemory is this process's memory in bytes; 0: unknown.
func residentMemory() int64 {
	raw, _ := os.ReadFile("/proc/self/statm")
	if fields := strings.Fields(string(raw)); len(fields) > 1 {
		pages, _ := strconv.ParseInt(fields[1], 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}
