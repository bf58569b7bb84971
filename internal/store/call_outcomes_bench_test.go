package store_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// What it costs to end a call in a batch of 600, with its outcome on record and, for comparison, without.
//
//	make bench
func BenchmarkEndCalls(b *testing.B) {
	for _, tenants := range []int{1, 100} {
		for _, with := range []string{"noted", "not noted"} {
			b.Run(fmt.Sprintf("%d tenants, %s", tenants, with), func(b *testing.B) {
				w := fixture.New(b)
				if with == "not noted" {
					w.AsOwner(b, "alter table tool_calls disable trigger user")
				}
				batch := batchOf(b, w, tenants, 600)
				b.ResetTimer()
				for b.Loop() {
					for i := range batch {
						batch[i].ID.UUID = uuid.Must(uuid.NewV7())
					}
					if err := w.St.System().Calls().EndCalls(b.Context(), batch); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(batch)), "µs/call")
			})
		}
	}
}

// batchOf are calls of as many tenants' agents, by turns.
func batchOf(t testing.TB, w *fixture.World, tenants, n int) []store.OwnedCall {
	t.Helper()
	ids, agents, servers := []connectors.TenantID{w.Tenant}, []connectors.Agent{w.Agent(t)}, []connectors.Connector{w.Connector(t)}
	for len(ids) < tenants {
		made, err := w.St.System().CreateTenant(t.Context(), "Tenant", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		ids, agents, servers = append(ids, made.ID), append(agents, w.AgentIn(t, made.ID)), append(servers, w.ConnectorIn(t, made.ID))
	}
	var calls []store.OwnedCall
	for i := range n {
		of := i % tenants
		c := callAt(w, agents[of], servers[of], fmt.Sprintf("tool_%d", i%7), time.Now())
		c.Tenant, c.Arguments, c.Content, c.Duration = ids[of], []byte(`{"query":"open bugs"}`), bytes.Repeat([]byte("what was found "), 68), time.Duration(i)*time.Microsecond
		calls = append(calls, c)
	}
	return calls
}

// What it costs to verify how calls ended, and how much of the disk that takes.
func BenchmarkCheckOutcomes(b *testing.B) {
	w := fixture.New(b)
	batch := batchOf(b, w, 1, 600)
	const batches = 100
	for range batches {
		for i := range batch {
			batch[i].ID.UUID = uuid.Must(uuid.NewV7())
		}
		if err := w.St.System().Calls().EndCalls(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	var bytes int
	w.AsSystem(b, "select sum(pg_total_relation_size(inhrelid)) from pg_inherits where inhparent = 'call_outcomes'::regclass", nil, &bytes)
	b.ResetTimer()
	for b.Loop() {
		if check, err := w.Door().Audit().CheckOutcomes(b.Context(), nil, time.Time{}); err != nil || check.Bad != nil || check.Calls != batches*600 {
			b.Fatal(check, err)
		}
	}
	calls := float64(batches * len(batch))
	b.ReportMetric(float64(b.Elapsed().Microseconds())/(float64(b.N)*calls), "µs/call")
	b.ReportMetric(float64(bytes)/calls, "bytes/call")
}
