package queue

import (
	"fmt"

	"github.com/google/uuid"
)

// Count is the number of tenant queues. With 16, a large tenant's backlog delays one small tenant in 16.
const Count = 16

// Names lists the queues.
func Names() []string {
	names := make([]string, Count)
	for i := range names {
		names[i] = queueName(i)
	}
	return names
}

// For returns the queue of a tenant's jobs.
func For(tenant uuid.UUID) string { return queueName(Shard(tenant)) }

// Shard is the index of a tenant's queue. The database computes the same as connector_clock.shard: the last
// byte of a version 7 UUID is random.
func Shard(tenant uuid.UUID) int { return int(tenant[len(tenant)-1]) % Count }

func queueName(i int) string { return fmt.Sprintf("sync_%02d", i) }
