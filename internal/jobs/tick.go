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
	// tickTimeout ends a tick that the database does not answer.
	tickTimeout = 5 * time.Second
	// countMost ends the counting of what is due: more needs no more jobs.
	countMost = 10000
	// little is how many due connectors one job for all shards is enough for.
	little = 100
)

// Due counts what is due and nobody has, by shard, up to max in all; where another process has just done so, nothing. It is
// [store.System.DueShards].
type Due func(ctx context.Context, max int) (map[int]int, error)

// clock inserts jobs for what is due. Every process has one; of those that tick in the same second one finds something.
type clock struct {
	due    Due
	client *river.Client[pgx.Tx]
	log    *slog.Logger
}

// run ticks until ctx ends.
func (c *clock) run(ctx context.Context) {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		if err := c.tick(ctx); err != nil && ctx.Err() == nil {
			c.log.WarnContext(ctx, "looking for what is due failed", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (c *clock) tick(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	due, err := c.due(ctx, countMost)
	if err != nil || len(due) == 0 {
		return err
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

// wanted are the jobs to insert, beside those that wait already: one for all where little is due, else one for each shard, which goes on
// while its process has room; a second later there is another one, for another process. In no order: where there are too many, it is not always
// the same shards that come last.
func wanted(due map[int]int, waiting int) []river.InsertManyParams {
	total := 0
	for _, n := range due {
		total += n
	}
	var jobs []river.InsertManyParams
	if total <= little {
		jobs = append(jobs, river.InsertManyParams{Args: queue.SyncDue{Shard: queue.AllShards}})
	} else {
		for shard := range due {
			jobs = append(jobs, river.InsertManyParams{Args: queue.SyncDue{Shard: shard}})
		}
		rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	}
	return jobs[:max(0, len(jobs)-waiting)]
}
