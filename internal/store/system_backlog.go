package store

import (
	"context"
	"time"

	"patchbay/internal/queue"
)

// maxBacklogSeen bounds the count of due connectors per shard: the exact number does not matter beyond.
const maxBacklogSeen = 1000

// Backlog is the waiting sync work of all tenants.
type Backlog struct {
	Due       int           // due and unclaimed connectors, at most 16 000
	Late      time.Duration // how long the first of them is due
	Queued    int           // requested runs that have not begun
	Waited    time.Duration // age of the first of them
	Instances int           // live processes
}

// Backlog reads it.
func (s *System) Backlog(ctx context.Context) (Backlog, error) {
	shards := make([]int16, queue.Count)
	for i := range shards {
		shards[i] = int16(i)
	}
	row, err := s.q.Backlog(ctx, shards, maxBacklogSeen)
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
