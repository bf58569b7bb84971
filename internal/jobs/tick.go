package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"patchbay/internal/queue"
)

const (
	// tickEvery is how late a sync that is due may begin.
	tickEvery = time.Second
	// earlyTicks: one tick of so many comes early, at any moment of its second, so that of several processes not always the same one looks first.
	earlyTicks = 8
	// tickTimeout ends a tick that the database does not answer.
	tickTimeout = 5 * time.Second
	// little is how many due connectors are begun without a job, or one job for all shards is enough for: those of one claim.
	little = 100
)

// Due counts what is due and nobody has, by shard, up to max in each. It is [store.System.DueShards].
type Due func(ctx context.Context, max int) (map[int]int, error)

// Turn tells whether this process is the one that inserts jobs in this second. It is [store.System.TakeClockTurn].
type Turn func(ctx context.Context) (bool, error)

// clock begins what is due, where that is little; where it is much, it inserts jobs for all processes. Every process has one.
type clock struct {
	due    Due
	turn   Turn // nil: it always is
	begin  func(ctx context.Context) (began int, more bool, err error)
	client *river.Client[pgx.Tx]
	log    *slog.Logger

	some bool // a second ago something was due, and not much: there will be again
}

// run ticks until ctx ends.
func (c *clock) run(ctx context.Context) {
	tick := time.NewTimer(tickEvery)
	defer tick.Stop()
	for {
		if err := c.tick(ctx); err != nil && ctx.Err() == nil {
			c.log.WarnContext(ctx, "looking for what is due failed", slog.Any("error", err))
		}
		wait := tickEvery
		if rand.N(earlyTicks) == 0 {
			wait = rand.N(tickEvery)
		}
		tick.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tick begins what is due, or has it begun:
//
//  1. look: how much is due? One statement, which costs the least; it is left out where there was something a second ago
//  2. begin it here, where it is little
//  3. else, and where that was not all, insert jobs, for this process and the others
func (c *clock) tick(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	few := c.some
	c.some = false
	var due map[int]int
	var err error
	if !few {
		if due, err = c.due(ctx, little); err != nil || len(due) == 0 {
			return err
		}
		few = total(due) <= little
	}
	if few {
		began, more, err := c.begin(ctx)
		if err != nil || !more {
			c.some = began > 0
			return err
		}
		if due, err = c.due(ctx, little); err != nil || len(due) == 0 {
			return err
		}
	}
	return c.share(ctx, due)
}

// share inserts jobs for what is due. Of processes that tick in the same second one does.
func (c *clock) share(ctx context.Context, due map[int]int) error {
	if c.turn != nil {
		if mine, err := c.turn(ctx); err != nil || !mine {
			return err
		}
	}
	waiting, err := c.client.JobList(ctx, river.NewJobListParams().
		Kinds(queue.SyncDue{}.Kind()).States(rivertype.JobStateAvailable).First(queue.Count))
	if err != nil {
		return fmt.Errorf("look at the jobs that wait: %w", err)
	}
	jobs := wanted(due, len(waiting.Jobs))
	if len(jobs) == 0 {
		return nil
	}
	if _, err := c.client.InsertManyFast(ctx, jobs); err != nil {
		return fmt.Errorf("insert %d jobs for what is due: %w", len(jobs), err)
	}
	return nil
}

func total(due map[int]int) int {
	n := 0
	for _, shard := range due {
		n += shard
	}
	return n
}

// wanted are the jobs to insert, beside those that wait already: one for all where little is due, else one for each shard, which goes on
// while its process has room; a second later there is another one, for another process. In no order: where there are too many, it is not always
// the same shards that come last.
func wanted(due map[int]int, waiting int) []river.InsertManyParams {
	var jobs []river.InsertManyParams
	if total(due) <= little {
		jobs = append(jobs, river.InsertManyParams{Args: queue.SyncDue{Shard: queue.AllShards}})
	} else {
		for shard := range due {
			jobs = append(jobs, river.InsertManyParams{Args: queue.SyncDue{Shard: shard}})
		}
		rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	}
	return jobs[:max(0, len(jobs)-waiting)]
}
