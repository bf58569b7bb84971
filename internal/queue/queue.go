package queue

import (
	"fmt"

	"github.com/google/uuid"
)

// Count is how many queues the tenants are spread over. With 16 a large tenant's backlog delays one small tenant in 16.
const Count = 16

// Names lists the queues.
func Names() []string {
	names := make([]string, Count)
	for i := range names {
		names[i] = name(i)
	}
	return names
}

// For returns the queue of a tenant's jobs.
func For(tenant uuid.UUID) string { return name(Shard(tenant)) }

// Shard is the number of a tenant's queue, from 0. The database computes it in the same way, as connector_clock.shard: the end of a
// version 7 UUID is random.
func Shard(tenant uuid.UUID) int { return int(tenant[len(tenant)-1]) % Count }

func name(i int) string { return fmt.Sprintf("sync_%02d", i) }
