package toolcall_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// newQuotaBench is a bench at noon UTC, away from the change of days.
func newQuotaBench(t testing.TB, opts ...func(*toolcall.Options)) *bench {
	t.Helper()
	b := newBench(t, opts...)
	now := time.Now()
	b.clock.advance(connectors.QuotaDay(now).Add(36 * time.Hour).Sub(now))
	return b
}

// setQuota sets the quota of a connector's tool "search".
func (b *bench) setQuota(t testing.TB, c connectors.Connector, q connectors.Quota) {
	t.Helper()
	must(t, b.Door().Tools().Curate(t.Context(), c.ID, []store.CuratedTool{{Name: "search", Curation: connectors.Curation{Enabled: true, Quota: q}}}))
}

// callUntilQuota calls search until a quota refuses, at most 20 times.
func (b *bench) callUntilQuota(t testing.TB, p *process, a connectors.Agent, c connectors.Connector) (n int, r toolcall.RefusalError) {
	t.Helper()
	return b.callUntil(t, toolcall.CodeQuotaExceeded, p, a, c)
}

// callUntilShare calls search until the process's share is used.
func (b *bench) callUntilShare(t testing.TB, p *process, a connectors.Agent, c connectors.Connector) (n int, r toolcall.RefusalError) {
	t.Helper()
	return b.callUntil(t, toolcall.CodeRateLimited, p, a, c)
}

func (b *bench) callUntil(t testing.TB, code toolcall.Code, p *process, a connectors.Agent, c connectors.Connector) (n int, r toolcall.RefusalError) {
	t.Helper()
	for ; n < 20; n++ {
		if _, err := p.Call(t.Context(), b.order(t, p, a, c, "search", "")); err != nil {
			return n, asRefusal(t, err, code)
		}
	}
	return n, toolcall.RefusalError{}
}

// quotaUses are today's stored counts.
func (b *bench) quotaUses(t testing.TB) []connectors.QuotaUse {
	t.Helper()
	uses, err := b.Door().Calls().QuotaUses(t.Context(), b.clock.now())
	must(t, err)
	return uses
}

func TestQuota_DayLimitResetsNextDay(t *testing.T) {
	t.Parallel()
	b := newQuotaBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.setQuota(t, c, connectors.Quota{PerDay: 2})
	n, refusal := b.callUntilQuota(t, b.process, a, c)
	midnight := connectors.QuotaDay(b.clock.now()).Add(24 * time.Hour)
	if n != 2 || !refusal.RetryAt.Equal(midnight) || refusal.RetryAfter <= 11*time.Hour || refusal.RetryAfter > 12*time.Hour {
		t.Errorf("%d calls, then in %s, at %s", n, refusal.RetryAfter, refusal.RetryAt)
	}
	want := `The tool "search" of "` + c.Name + `" allows 2 calls per day. Calls resume at ` + midnight.Format("2006-01-02") + ` 00:00 UTC, in 12 hours.`
	if refusal.Sentence != want {
		t.Errorf("%s", refusal.Sentence)
	}
	if row := b.row(t, refusal.CallID); row.Outcome != connectors.OutcomeRefused || row.ErrorCode != "quota_exceeded" || row.ErrorMessage != want {
		t.Errorf("on record: %s %s %s", row.Outcome, row.ErrorCode, row.ErrorMessage)
	}
	_, err := b.Call(t.Context(), b.order(t, b.process, a, c, "read", ""))
	must(t, err) // another tool
	b.remote.wantCalls(t, 3)
	b.clock.advance(13 * time.Hour)
	if n, _ := b.callUntilQuota(t, b.process, a, c); n != 2 {
		t.Errorf("%d calls the next day", n)
	}
}

func TestQuota_DayCountSurvivesRestart(t *testing.T) {
	t.Parallel()
	b := newQuotaBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.setQuota(t, c, connectors.Quota{PerDay: 3})
	for range 2 {
		_, err := b.call(t, a, c, "")
		must(t, err)
	}
	b.stop()
	restarted := b.newProcess(t, b.newInstance(t))
	restarted.Start(t.Context())
	if n, _ := b.callUntilQuota(t, restarted, a, c); n != 1 {
		t.Errorf("%d calls after the restart, of the 1 that was left", n)
	}
}

func TestQuota_DayLimitSpansProcesses(t *testing.T) {
	t.Parallel()
	var refusals atomic.Int32 // in the first process
	b := newQuotaBench(t, func(o *toolcall.Options) { o.OnOverQuota = func(string, string) { refusals.Add(1) } })
	other := b.newProcess(t, b.newInstance(t))
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.setQuota(t, c, connectors.Quota{PerDay: 5})
	for _, p := range []*process{b.process, other} {
		p.Sweep(t.Context())
	}
	share, refusal := b.callUntilShare(t, b.process, a, c)
	if share != 3 || refusal.RetryAfter != time.Second {
		t.Errorf("%d calls before anything is heard, then in %s", share, refusal.RetryAfter)
	}
	if n := refusals.Load(); n != 0 {
		t.Errorf("the quota is not used up, and %d refusals are told as if it were", n)
	}
	b.CountQuotas(t.Context())
	b.PublishUses(t.Context())
	receive(t, other.uses)
	if n, _ := b.callUntilShare(t, other, a, c); n != 1 {
		t.Errorf("%d calls of the 2 that are left, of which one process gives half", n)
	}
	other.CountQuotas(t.Context())
	if n, _ := b.callUntilQuota(t, other, a, c); n != 1 {
		t.Errorf("%d calls of the one that is left", n)
	}
	other.CountQuotas(t.Context())
	if n, refusal := b.callUntilQuota(t, other, a, c); n != 0 || refusal.RetryAfter < time.Hour {
		t.Errorf("%d calls more, then in %s", n, refusal.RetryAfter)
	}
	if uses := b.quotaUses(t); len(uses) != 1 || uses[0].Calls != 5 || uses[0].OverDay != 1 {
		t.Errorf("counted: %+v", uses)
	}
}

func TestQuota_OtherRefusalsAreNotCounted(t *testing.T) {
	t.Parallel()
	b := newQuotaBench(t)
	c := b.connector(t, b.remote, func(d *connectors.Draft) { d.CallsPerMinute = 2 })
	a, slow := b.newTrustedAgent(t, c), b.newTrustedAgent(t, c, func(a *connectors.Agent) { a.CallsPerMinute = 1 })
	b.setQuota(t, c, connectors.Quota{PerDay: 3})
	must(t, b.Door().Calls().SetQuota(t.Context(), connectors.Quota{PerDay: 10}))
	for i, agent := range []connectors.Agent{slow, slow, a, a} {
		_, err := b.call(t, agent, c, "")
		if i == 0 || i == 2 {
			must(t, err)
		} else {
			wantRefused(t, err, toolcall.CodeRateLimited) // by the agent's rate, by the connector's
		}
	}
	b.CountQuotas(t.Context())
	want := []connectors.QuotaUse{
		{Quota: connectors.Quota{PerDay: 10}, Calls: 2},
		{ConnectorID: c.ID, ConnectorSlug: c.Slug, Tool: "search", Quota: connectors.Quota{PerDay: 3}, Calls: 2},
	}
	if diff := cmp.Diff(want, b.quotaUses(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestQuota_MinuteRefusalRefundsDay(t *testing.T) {
	t.Parallel()
	b := newQuotaBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.setQuota(t, c, connectors.Quota{PerMinute: 1, PerDay: 3})
	for range 2 {
		n, refusal := b.callUntilQuota(t, b.process, a, c)
		if n != 1 || refusal.RetryAfter > time.Minute || !strings.HasPrefix(refusal.Sentence, `The tool "search" of "`+c.Name+`" allows 1 call per minute. Try again in `) {
			t.Errorf("%d calls, then: %s", n, refusal.Sentence)
		}
		b.clock.advance(time.Minute)
	}
	b.callUntilQuota(t, b.process, a, c)
	b.CountQuotas(t.Context())
	if uses := b.quotaUses(t); len(uses) != 1 || uses[0].Calls != 3 || uses[0].OverMinute != 2 || uses[0].OverDay != 1 {
		t.Errorf("counted: %+v", uses)
	}
}

// The calls of two connectors count together.
func TestQuota_TenantDayLimit(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(b *bench, ctx context.Context) error{
		"the owner's": func(b *bench, ctx context.Context) error {
			return b.Door().Calls().SetQuota(ctx, connectors.Quota{PerDay: 3})
		},
		"the operator's": func(b *bench, ctx context.Context) error {
			return b.Door().Calls().SetOperatorQuota(ctx, connectors.Quota{PerDay: 3})
		},
		"the lower one": func(b *bench, ctx context.Context) error {
			if err := b.Door().Calls().SetQuota(ctx, connectors.Quota{PerDay: 100}); err != nil {
				return err
			}
			return b.Door().Calls().SetOperatorQuota(ctx, connectors.Quota{PerDay: 3})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newQuotaBench(t)
			one, two := b.connector(t, b.remote), b.connector(t, b.remote)
			a, other := b.newTrustedAgent(t, one), b.newTrustedAgent(t, two)
			must(t, set(b, t.Context()))
			_, err := b.call(t, other, two, "")
			must(t, err)
			n, refusal := b.callUntilQuota(t, b.process, a, one)
			if n != 2 || !strings.HasPrefix(refusal.Sentence, "This organisation may make 3 calls per day. Calls resume at ") {
				t.Errorf("%d calls, then: %s", n, refusal.Sentence)
			}
		})
	}
}

func TestQuota_TenantMinuteLimit(t *testing.T) {
	t.Parallel()
	b := newQuotaBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	must(t, b.Door().Calls().SetQuota(t.Context(), connectors.Quota{PerMinute: 2}))
	if n, refusal := b.callUntilQuota(t, b.process, a, c); n != 2 || !strings.HasPrefix(refusal.Sentence, "This organisation may make 2 calls per minute. Try again in ") {
		t.Errorf("%d calls, then: %s", n, refusal.Sentence)
	}
}

// The tenant's row is locked, as by its deletion.
func TestCountQuotas_RetriesAfterFailure(t *testing.T) {
	t.Parallel()
	b := newQuotaBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.setQuota(t, c, connectors.Quota{PerDay: 3})
	_, err := b.call(t, a, c, "")
	must(t, err)
	tx, err := b.Pool.Begin(t.Context())
	must(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = tx.Exec(t.Context(), "select set_config('app.system', 'on', true)")
	must(t, err)
	var id string
	must(t, tx.QueryRow(t.Context(), "select id::text from tenants where id = $1 for update", b.Tenant).Scan(&id))
	b.CountQuotas(t.Context())
	if uses := b.quotaUses(t); len(uses) != 0 {
		t.Errorf("counted, although the tenant was held: %+v", uses)
	}
	must(t, tx.Rollback(t.Context()))
	_, err = b.call(t, a, c, "")
	must(t, err)
	for range 2 {
		b.CountQuotas(t.Context())
	}
	if uses := b.quotaUses(t); len(uses) != 1 || uses[0].Calls != 2 {
		t.Errorf("counted: %+v", uses)
	}
	if n, _ := b.callUntilQuota(t, b.process, a, c); n != 1 {
		t.Errorf("%d calls of the one that is left", n)
	}
}

func TestRun_QuotaFaultIs429(t *testing.T) {
	t.Parallel()
	b := newQuotaBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.setQuota(t, c, connectors.Quota{PerDay: 1})
	_, err := b.process.Run(t.Context(), b.order(t, b.process, a, c, "search", ""), time.Minute)
	must(t, err)
	call, err := b.process.Run(t.Context(), b.order(t, b.process, a, c, "search", ""), time.Minute)
	f := fault.As(err)
	if f == nil || respond.Status(f.Kind) != http.StatusTooManyRequests || f.Type != "quota-exceeded" || f.RetryAfter < 60*60 {
		t.Fatalf("err = %+v", f)
	}
	if row := b.row(t, call.ID); row.ErrorCode != "quota_exceeded" {
		t.Errorf("on record: %+v", row)
	}
}

func TestCountQuotas_DropsOldDays(t *testing.T) {
	t.Parallel()
	b := newQuotaBench(t)
	for _, days := range []int{0, 34, 40} {
		_, err := b.St.System().Calls().CountQuotas(t.Context(), []store.QuotaCount{{
			QuotaOwner: store.QuotaOwner{Tenant: b.Tenant}, Day: connectors.QuotaDay(time.Now()).AddDate(0, 0, -days), Calls: 1,
		}})
		must(t, err)
	}
	_, err := b.St.System().Calls().SweepGateway(t.Context(), b.Instance)
	must(t, err)
	var days int
	must(t, pgx.BeginFunc(t.Context(), b.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), "select count(*) from quota_days").Scan(&days)
	}))
	if days != 2 {
		t.Errorf("%d days are kept", days)
	}
}

// Not parallel: it counts allocations.
func TestLimit_WithoutQuotaAllocatesNothing(t *testing.T) { //nolint:paralleltest // see above
	b := newQuotaBench(t)
	c := b.connector(t, b.remote)
	request := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", "")
	if n := testing.AllocsPerRun(1000, func() { must(t, b.Paced(request.View, request.Tool)) }); n > 0 {
		t.Errorf("%v allocations a call", n)
	}
}

// BenchmarkLimits measures the limits of a call, on all processors.
//
//	make bench
func BenchmarkLimits(b *testing.B) {
	for name, q := range map[string]connectors.Quota{
		"no quota": {}, "both quotas": {PerMinute: connectors.MaxCallsPerMinute, PerDay: connectors.MaxCallsPerDay},
	} {
		b.Run(name, func(b *testing.B) {
			w := newQuotaBench(b)
			c := w.connector(b, w.remote)
			a := w.newTrustedAgent(b, c)
			w.setQuota(b, c, q)
			must(b, w.Door().Calls().SetQuota(b.Context(), q))
			request := w.order(b, w.process, a, c, "search", "")
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_ = w.Paced(request.View, request.Tool) // may be refused
				}
			})
		})
	}
}
