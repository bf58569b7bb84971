package queue

import (
	"fmt"
	"hash/fnv"

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
func For(tenant uuid.UUID) string {
	h := fnv.New32a()
	_, _ = h.Write(tenant[:]) // a hash never fails
	return name(int(h.Sum32() % Count))
}

func name(i int) string { return fmt.Sprintf("sync_%02d", i) }
