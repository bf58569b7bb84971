package agentview_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// The calls table is locked, so that the first query blocks.
func TestUnused_GateIsPerTenant(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	here, there := b.Agent(t), b.AgentIn(t, b.Other)
	tx, err := b.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(b.ctx) }()
	if _, err := tx.Exec(t.Context(), "lock table tool_calls in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	look := func(tenant connectors.TenantID, agent connectors.Agent, to chan<- error) {
		_, err := b.cache.Unused(t.Context(), tenant, connectors.Ref(agent.Slug), time.Now())
		to <- err
	}
	ours, theirs := make(chan error, 3), make(chan error, 1)
	for range cap(ours) {
		go look(b.Tenant, here, ours)
	}
	go look(b.Other, there, theirs)
	if err := <-ours; !fault.Is(err, fault.Unavailable) {
		t.Errorf("one too many: %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range cap(ours) - 1 {
		if err := <-ours; err != nil {
			t.Errorf("one that had a turn: %v", err)
		}
	}
	if err := <-theirs; err != nil {
		t.Errorf("another tenant's: %v", err)
	}
	go look(b.Tenant, here, ours)
	if err := <-ours; err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
