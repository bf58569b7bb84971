package auditstreams

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// TestResult is the result of a test message.
type TestResult struct {
	Accepted bool
	Status   int    // of HTTP; 0: no response
	Sentence string // failure; empty: accepted
	Took     time.Duration
}

// Test sends one event without a position, now, even if the stream is paused. It changes no state.
func (s *Service) Test(ctx context.Context, a auth.Actor, id connectors.AuditStreamID) (TestResult, error) {
	if err := requireManager(a); err != nil {
		return TestResult{}, err
	}
	if !s.tests.TryAcquire(a.Tenant.ID) {
		return TestResult{}, fault.Errorf(fault.Conflict, "Other tests are still running. Try again in a moment.")
	}
	defer s.tests.Release(a.Tenant.ID)
	stream, value, err := s.o.Store.Vault(a.Tenant.ID).AuditStreamSecret(ctx, id)
	if err != nil {
		return TestResult{}, err
	}
	if err := s.o.Store.Tenant(a.Tenant.ID).Audit().Record(ctx, newEvent(a, "audit_stream.test", stream)); err != nil {
		return TestResult{}, err
	}
	b, err := s.newTestBatch(a)
	if err != nil {
		return TestResult{}, err
	}
	began := time.Now()
	res := s.sendBatch(ctx, a.Tenant.ID, stream, value, b)
	return TestResult{Accepted: res.sentence == "", Status: res.status, Sentence: res.sentence, Took: time.Since(began)}, nil
}

// newTestBatch returns an event of log "test", without a position.
func (s *Service) newTestBatch(a auth.Actor) (batch, error) {
	m := s.mapperFor(a.Tenant.ID)
	e := m.baseEvent(classBase, activity{activityOther, "Test"}, s.o.Now(), store.StreamRecord{Chain: "test"}, map[string]any{})
	e.Metadata.UID, e.Message = uuid.NewString(), "Just a test: nothing has happened."
	encoded, err := encodeEvent(e)
	return batch{events: []event{e}, encoded: [][]byte{encoded}}, err
}
