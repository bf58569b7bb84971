package auditstreams_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"patchbay/db"
	"patchbay/internal/auditstreams"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// lostCommits breaks connections at the commit that follows a move of a cursor.
type lostCommits struct {
	left      atomic.Int64
	committed bool // the database commits before the connection breaks
	moved     atomic.Pointer[pgx.Conn]
}

func (l *lostCommits) TraceQueryStart(ctx context.Context, c *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, "name: AdvanceAuditStream") {
		l.moved.Store(c)
	}
	if data.SQL != "commit" || l.moved.Load() != c || l.left.Add(-1) < 0 {
		return ctx
	}
	if l.committed {
		_ = c.PgConn().Exec(ctx, "commit").Close()
	}
	_ = c.PgConn().Conn().Close()
	return ctx
}

func (*lostCommits) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// A commit is tried again if its response is lost. Either way, a gap is reported once and no batch is sent twice.
func TestStream_LostCommitReportsAGapOnce(t *testing.T) {
	t.Parallel()
	for _, committed := range []bool{true, false} {
		w, there := newStreamTest(t), receive(t)
		stream := w.create(t, httpsStream(there.URL))
		for range 5 {
			w.endCall(t, "search")
		}
		w.AsOwner(t, "delete from call_outcomes where n <= 3")
		lost := &lostCommits{committed: committed}
		lost.left.Store(1)
		pool, err := db.OpenPool(t.Context(), w.URL, db.PoolOptions{MaxConns: 4, Tracer: lost})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		st, err := store.OpenPooled(t.Context(), pool, pool, w.KEK)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(st.Close)
		start(t, w.newService(st, func(o *auditstreams.Options) { o.Log = nil }))
		w.waitDelivered(t, stream.ID)
		waitFor(t, "the lost commit", func() bool { return lost.left.Load() <= 0 })
		entries := map[string]int{}
		seen := map[string]int{}
		for _, e := range there.all() {
			if seen[e.Metadata.UID]++; seen[e.Metadata.UID] > 1 {
				t.Errorf("committed %v: sent twice: %s", committed, e.raw)
			}
			entries[e.Unmapped.Patchbay.Action]++
		}
		notices, err := w.Door().People().Notices(t.Context(), nil, store.Page{})
		if err != nil {
			t.Fatal(err)
		}
		gaps := 0
		for _, n := range notices.Items {
			if n.Kind == connectors.NoticeStreamGap {
				gaps++
			}
		}
		if entries["audit_stream.gap"] != 1 || gaps != 1 {
			t.Errorf("committed %v: %d entries and %d notices of one gap", committed, entries["audit_stream.gap"], gaps)
		}
	}
}
