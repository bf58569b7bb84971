package toolcall_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/toolcall"
)

// emptyInputs are inputs of a new call that look like those of a resumed one.
var emptyInputs = map[string]mcp.Input{
	"no answers":   {Responses: json.RawMessage(`{}`)},
	"null":         {Responses: json.RawMessage(`null`)},
	"answers":      {Responses: json.RawMessage(`{"k":{"action":"accept"}}`)},
	"nothing more": {},
}

func TestQuota_ResumedCallCounts(t *testing.T) {
	t.Parallel()
	for name, in := range emptyInputs {
		for owner, set := range map[string]func(b *bench, c connectors.Connector){
			"the tool's": func(b *bench, c connectors.Connector) { b.setQuota(t, c, connectors.Quota{PerDay: 2}) },
			"the tenant's": func(b *bench, _ connectors.Connector) {
				must(t, b.Door().Calls().SetQuota(t.Context(), connectors.Quota{PerDay: 2}))
			},
			"of a minute": func(b *bench, c connectors.Connector) { b.setQuota(t, c, connectors.Quota{PerMinute: 2}) },
		} {
			t.Run(name+", "+owner, func(t *testing.T) {
				t.Parallel()
				b := newQuotaBench(t)
				c := b.connector(t, b.remote)
				a := b.newTrustedAgent(t, c)
				set(b, c)
				request := b.order(t, b.process, a, c, "search", "")
				request.MultiRound, request.Input = true, &in
				for range 2 {
					_, err := b.Call(t.Context(), request)
					must(t, err)
				}
				_, err := b.Call(t.Context(), request)
				wantRefused(t, err, toolcall.CodeQuotaExceeded)
				b.remote.wantCalls(t, 2)
			})
		}
	}
}

func TestDefinitionAge_CheckedOnResumedCall(t *testing.T) {
	t.Parallel()
	for name, in := range emptyInputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, syncs := newResyncBench(t, resyncTo(t, poisonedTool))
			c := b.connector(t, b.remote, withDefinitionAge)
			request := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", `{"q":"x"}`)
			request.MultiRound, request.Input = true, &in
			b.clock.advance(16 * time.Minute)
			_, err := b.Call(t.Context(), request)
			wantRefused(t, err, toolcall.CodeHeld)
			if n := syncs.Load(); n != 1 {
				t.Errorf("%d syncs", n)
			}
			b.remote.wantCalls(t, 0)
		})
	}
}

// The tenant's row is locked, and the counts exceed one batch.
func TestCountQuotas_KeepsUnansweredCounts(t *testing.T) {
	t.Parallel()
	b := newQuotaBench(t)
	const quotas = 1200
	b.LetThrough(b.Tenant, connectors.ConnectorID{UUID: b.Instance.UUID}, quotas)
	tx, err := b.Pool.Begin(t.Context())
	must(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), "select set_config('app.system', 'on', true)")
	must(t, err)
	_, err = tx.Exec(t.Context(), "select id from tenants where id = $1 for update", b.Tenant)
	must(t, err)
	before := b.Queries()
	callCtx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	b.CountQuotas(callCtx)
	if n := b.Queries() - before; n > 10 {
		t.Errorf("%d statements, of which none wrote anything", n)
	}
	must(t, tx.Rollback(t.Context()))
	b.CountQuotas(t.Context())
	if n := b.CountedQuotas(); n != quotas {
		t.Errorf("%d of %d are counted", n, quotas)
	}
}
