package queue_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"patchbay/internal/queue"
)

func TestFor_IsStablePerTenant(t *testing.T) {
	t.Parallel()
	names := queue.Names()
	for range 100 {
		tenant := uuid.Must(uuid.NewV7())
		got := queue.For(tenant)
		if !slices.Contains(names, got) {
			t.Fatalf("For(%s) = %q, which is none of the queues", tenant, got)
		}
		job := queue.SyncTools{TenantID: tenant, SyncRunID: uuid.New()}
		if opts := job.InsertOpts(); opts.Queue != got {
			t.Fatalf("job's queue = %q, want %q", opts.Queue, got)
		}
	}
}

func TestFor_SpreadsTenantsOverAllQueues(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for range 2000 {
		seen[queue.For(uuid.Must(uuid.NewV7()))]++
	}
	for _, name := range queue.Names() {
		if seen[name] < 60 { // 125 expected; below 60 is 6 standard deviations off
			t.Errorf("queue %s got %d of 2000 tenants", name, seen[name])
		}
	}
}
