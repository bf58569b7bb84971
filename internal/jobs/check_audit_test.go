package jobs_test

import (
	"log/slog"
	"testing"
	"time"

	"patchbay/internal/credentials"
	"patchbay/internal/jobs"
	"patchbay/internal/retention"
	"patchbay/internal/store"
)

func TestCheckAudit_FindsAChangedLog(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, door := range []*store.Tenant{b.Door(), b.St.Tenant(b.Other)} {
		for _, action := range []string{"table.export", "credential.read"} {
			if err := door.Audit().Record(t.Context(), store.Event{ActorType: "system", Action: action}); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.AsOwner(t, `update audit_events set action = 'webhook.test' where tenant_id = '`+b.Tenant.String()+`' and action = 'credential.read'`)
	bad := b.startChecks(t)
	within(t, bad)
	state, err := b.Door().Audit().State(t.Context())
	if err != nil || state.Bad == nil || state.Bad.N != 2 {
		t.Errorf("%+v, %v", state, err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		if state, err = b.St.Tenant(b.Other).Audit().State(t.Context()); err != nil || state.CheckedAt != nil || time.Now().After(end) {
			break
		}
	}
	if err != nil || state.Bad != nil || state.Good != 2 || len(bad) != 0 {
		t.Errorf("the other tenant's: %+v, %v, told of %d more", state, err, len(bad))
	}
}

// startChecks checks the tenants' logs; the channel receives one value per broken log.
func (b *bundle) startChecks(t *testing.T) <-chan struct{} {
	t.Helper()
	bad := make(chan struct{}, 10)
	r, err := jobs.New(jobs.Options{
		Pool: b.Pool, ListenPool: b.Pool, Syncer: b.sync, Due: b.St.System().Syncs().DueShards,
		Parts: []jobs.Module{jobs.Upkeep(jobs.MaintenanceOptions{
			Sweeper: retention.New(retention.Options{Store: b.St}), System: b.St.System(), Credentials: credentials.New(b.St), Store: b.St,
			OnAuditBroken: func() { bad <- struct{}{} }, Log: slog.New(slog.DiscardHandler),
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, r) })
	return bad
}

func TestCheckAudit_FindsAChangedCall(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.OldCalls(t, b.Connector(t), "search", 1, 3)
	b.AsSystem(t, "update tool_calls set outcome = 'tool_error' where id = (select min(id::text)::uuid from tool_calls)", nil)
	within(t, b.startChecks(t))
	state, err := b.Door().Audit().OutcomeState(t.Context())
	if err != nil || state.Bad == nil || state.Bad.Reason != store.OutcomeChanged {
		t.Errorf("%+v, %v", state, err)
	}
	if log, err := b.Door().Audit().State(t.Context()); err != nil || log.Bad != nil {
		t.Errorf("the log: %+v, %v", log, err)
	}
}

func TestCreateAuditMonths_RunsByTheClock(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.startUpkeep(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	parts := 0
	for end := time.Now().Add(patience); parts < 3 && time.Now().Before(end); <-tick.C {
		b.AsSystem(t, "select count(*) from audit_months", nil, &parts)
	}
	if parts < 3 {
		t.Errorf("the audit log has %d parts", parts)
	}
}
