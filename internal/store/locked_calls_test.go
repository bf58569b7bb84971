package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// Deleting a tenant locks it, possibly for long: no batch waits for that, or locks what the deletion needs.
func TestEndCalls_SkipsTenantBeingDeleted(t *testing.T) {
	t.Parallel()
	for way, write := range map[string]func(store.SystemCalls, context.Context, []store.OwnedCall) error{
		"begin": store.SystemCalls.BeginCalls, "add": store.SystemCalls.AddCalls, "end": store.SystemCalls.EndCalls,
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			calls := batchOf(t, w, 2, 6)
			anew(calls, time.Now())
			for i := range calls {
				if way == "begin" {
					calls[i].Status, calls[i].CompletedAt, calls[i].Content, calls[i].InstanceID = connectors.CallRunning, nil, nil, &w.Instance
				}
			}
			deletes, err := w.Pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = deletes.Rollback(context.Background()) }()
			_, err = deletes.Exec(t.Context(), `select set_config('app.system', 'on', true)`)
			if err == nil {
				_, err = deletes.Exec(t.Context(), `select from tenants where id = $1 for update`, w.Tenant)
			}
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err = write(w.St.System().Calls(), ctx, calls)
			held, some := errors.AsType[*store.LockedCallsError](err)
			if !some || len(held.Calls) != 3 {
				t.Fatalf("held: %+v, %v", held, err)
			}
			for _, c := range held.Calls {
				if c.Tenant != w.Tenant {
					t.Errorf("a call of %s waits", c.Tenant)
				}
			}
			if n := w.Count(t, "tool_calls"); n != 3 {
				t.Errorf("%d calls are written", n)
			}
			if err := deletes.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := write(w.St.System().Calls(), t.Context(), held.Calls); err != nil || w.Count(t, "tool_calls") != 6 {
				t.Errorf("afterwards: %d calls, %v", w.Count(t, "tool_calls"), err)
			}
		})
	}
}
