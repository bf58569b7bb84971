package store

import (
	"context"
	"time"

	"patchbay/internal/queue"
)

// backlogSeen ends the count of what is due, of each shard: whoever watches needs to know that it is much, not how much.
const backlogSeen = 1000

// Backlog is what waits to be synced, of all tenants.
type Backlog struct {
	Due       int           // connectors that are due and that nobody has, 16 000 at most
	Late      time.Duration // since the first of them was due
	Queued    int           // syncs that somebody asked for and that have not begun
	Waited    time.Duration // of the first of them
	Instances int           // processes that are known as alive
}

// Backlog reads what waits.
func (s *System) Backlog(ctx context.Context) (Backlog, error) {
	shards := make([]int16, queue.Count)
	for i := range shards {
		shards[i] = int16(i)
	}
	row, err := s.q.Backlog(ctx, shards, backlogSeen)
	if err != nil {
		return Backlog{}, err
	}
	return Backlog{
		Due:       int(row.Due),
		Late:      time.Duration(row.LateS * float64(time.Second)),
		Queued:    int(row.Queued),
		Waited:    time.Duration(row.WaitedS * float64(time.Second)),
		Instances: int(row.Instances),
	}, nil
}
