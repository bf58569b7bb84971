package auditstreams_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/db"
	"patchbay/internal/auditstreams"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestStream_DeliversBothChainsOnce(t *testing.T) {
	t.Parallel()
	for _, format := range []connectors.StreamFormat{connectors.StreamNDJSON, connectors.StreamJSON} {
		w, there := newStreamTest(t), receive(t)
		stream := httpsStream(there.URL + "/in?key=1")
		stream.Format = format
		stream = w.create(t, stream)
		for _, action := range []string{"account.sign_in", "sso.refuse", "account.lock", "tool_call.read", "audit.cut"} {
			w.record(t, action, "ann@acme.example")
		}
		w.endCall(t, "search")
		w.endCall(t, "create")
		start(t, w.service)
		w.waitDelivered(t, stream.ID)
		events := there.all()
		before := stream.Cursor
		end := w.get(t, stream.ID).Cursor
		wantChains(t, events, before, end)
		wantOCSF(t, events)
		classes := map[int]int{}
		for _, e := range events {
			classes[e.ClassUID]++
			if e.Metadata.Tenant != w.Tenant.String() || e.Metadata.LogName == store.ChainCalls && !strings.HasPrefix(e.Metadata.UID, w.Tenant.String()) {
				t.Errorf("tenant of %s", e.raw)
			}
			if bytes.Contains(e.raw, []byte("planted")) {
				t.Errorf("an argument or a secret is in %s", e.raw)
			}
		}
		if len(events) != 8 || classes[3001] != 1 || classes[3002] != 2 || classes[3004] != 3 || classes[6003] != 2 || events[0].Unmapped.Patchbay.Action != "audit_stream.create" {
			t.Errorf("%s: %d events, %v", format, len(events), classes)
		}
		if got := there.headers[0]; got.Get("Authorization") != "Bearer planted-secret" || got.Get("User-Agent") != "Patchbay/test" {
			t.Errorf("headers = %v", got)
		}
		if strings.Contains(w.log.String(), "planted") || strings.Contains(w.log.String(), "key=1") {
			t.Error("the log has the secret")
		}
	}
}

// A receiver that is away for an hour under load, while two processes send, one of which loses its database, gets every record
// once. The hour is that of the pauses between attempts.
func TestStream_ReceiverAwayLosesNothing(t *testing.T) {
	t.Parallel()
	w, there := newStreamTest(t), receive(t)
	stream := w.create(t, httpsStream(there.URL))
	from := stream.Cursor
	pool, err := db.OpenPool(t.Context(), w.URL, db.PoolOptions{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	st, err := store.OpenPooled(t.Context(), pool, pool, w.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	short := func(o *auditstreams.Options) { o.Lease = time.Second }
	doomed, survivor := w.newService(st, short), w.newService(w.St, short)
	doomed.Start(t.Context())
	start(t, survivor)

	load, stopLoad := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 3 {
		writers.Go(func() {
			for i := 0; load.Err() == nil; i++ {
				w.endCall(t, "search")
				if i%8 == 0 {
					w.record(t, "tool_call.read", "x")
				}
			}
		})
	}
	waitFor(t, "the first batches", func() bool { return len(there.all()) > 200 })
	there.status.Store(http.StatusServiceUnavailable)
	awayFor := func(d time.Duration) func() bool { return func() bool { return time.Duration(w.paused.Load()) >= d } }
	waitFor(t, "half an hour of attempts", awayFor(30*time.Minute))
	if s := w.get(t, stream.ID); s.Behind() == 0 || !s.Enabled {
		t.Errorf("while the receiver is away: %+v", s)
	}
	pool.Close() // the process stores and releases nothing any more
	stopped := make(chan struct{})
	go func() { doomed.Stop(context.Background()); close(stopped) }()
	select {
	case <-stopped:
	case <-time.After(maxWait):
		t.Fatal("the killed process does not end")
	}
	waitFor(t, "an hour of attempts, the second half by the other process", awayFor(time.Hour))
	waitFor(t, "the notice about an hour of failures", func() bool {
		notices, err := w.Door().People().Notices(t.Context(), nil, store.Page{})
		return err == nil && len(notices.Items) == 2 && notices.Items[0].Kind == connectors.NoticeStreamFailing
	})
	there.status.Store(0)
	before := len(there.all())
	waitFor(t, "batches after the receiver is back", func() bool { return len(there.all()) > before+200 })
	stopLoad()
	writers.Wait()
	w.waitDelivered(t, stream.ID)
	events, end := there.all(), w.get(t, stream.ID)
	wantChains(t, events, from, end.Cursor)
	if end.Failures != 0 || end.LastError != "" || end.DeliveredAt == nil {
		t.Errorf("afterwards: %+v", end)
	}
	t.Logf("%d events, 0 gaps, 0 doubles", len(events))
}

// A process that dies after the receiver accepted sends the batch again, under the same numbers and nothing else.
func TestStream_RepeatsABatchUnderTheSameNumbers(t *testing.T) {
	t.Parallel()
	w, there := newStreamTest(t), receive(t)
	stream := w.create(t, httpsStream(there.URL))
	w.endCall(t, "search")
	var once sync.Once
	there.accepted = func() {
		once.Do(func() { // another process takes over: this one's result counts no more
			w.AsSystem(t, "update audit_streams set lease = gen_random_uuid(), leased_until = now() - interval '1 second'", nil)
		})
	}
	start(t, w.service)
	w.waitDelivered(t, stream.ID)
	seen := map[string][]byte{}
	for _, e := range there.all() {
		key := e.Metadata.LogName + e.Metadata.UID
		if first, again := seen[key]; again && !bytes.Equal(first, e.raw) {
			t.Errorf("%s\nis repeated as\n%s", first, e.raw)
		}
		seen[key] = e.raw
	}
	if len(there.all()) != 4 || len(seen) != 2 {
		t.Errorf("%d events, %d records", len(there.all()), len(seen))
	}
}

func TestStream_FourProcessesSendEachRecordOnce(t *testing.T) {
	t.Parallel()
	w, there := newStreamTest(t), receive(t)
	stream := w.create(t, httpsStream(there.URL))
	for range 4 {
		start(t, w.newService(w.St))
	}
	for range 50 {
		w.endCall(t, "search")
	}
	w.waitDelivered(t, stream.ID)
	wantChains(t, there.all(), stream.Cursor, w.get(t, stream.ID).Cursor)
}

func TestStream_PausesAfterRefusals(t *testing.T) {
	t.Parallel()
	for status, why := range map[int]connectors.StreamEnd{http.StatusForbidden: connectors.StreamRefused, http.StatusGone: connectors.StreamGone, http.StatusFound: connectors.StreamRefused} {
		w, there := newStreamTest(t), receive(t)
		there.status.Store(int64(status))
		stream := w.create(t, httpsStream(there.URL))
		start(t, w.service)
		if status != http.StatusGone {
			waitFor(t, "a dozen refusals", func() bool { return w.get(t, stream.ID).Failures > 12 })
			if notices, err := w.Door().People().Notices(t.Context(), nil, store.Page{}); err != nil || len(notices.Items) != 2 || notices.Items[0].Kind != connectors.NoticeStreamFailing {
				t.Errorf("notices while it refuses = %+v, %v", notices.Items, err)
			}
			w.AsSystem(t, "update audit_streams set refusals = refusals + 24 * 60 / 5 - 12", nil) // a day later
		}
		waitFor(t, "the stream to pause", func() bool { return !w.get(t, stream.ID).Enabled })
		now := w.get(t, stream.ID)
		if now.DisabledWhy != why || now.Cursor.AuditN != stream.Cursor.AuditN || now.LastError == "" || now.State() != connectors.StreamPaused {
			t.Errorf("%d: %+v", status, now)
		}
		notices, err := w.Door().People().Notices(t.Context(), nil, store.Page{})
		if err != nil || len(notices.Items) < 2 || notices.Items[0].Kind != connectors.NoticeStreamPaused || notices.Items[0].Link != "/audit/streams/"+stream.ID.String() {
			t.Errorf("notices = %+v, %v", notices.Items, err)
		}
		there.status.Store(0)
		if _, err := w.service.Update(t.Context(), w.admin, stream.ID, auditstreams.Change{Enabled: new(true)}); err != nil {
			t.Fatal(err)
		}
		w.waitDelivered(t, stream.ID)
		wantChains(t, there.all(), stream.Cursor, w.get(t, stream.ID).Cursor)
	}
}

func TestStream_OutageNeverPauses(t *testing.T) {
	t.Parallel()
	w, there := newStreamTest(t), receive(t)
	there.status.Store(http.StatusBadGateway)
	stream := w.create(t, httpsStream(there.URL))
	start(t, w.service)
	waitFor(t, "failures", func() bool { return w.get(t, stream.ID).Failures > 20 })
	notices, err := w.Door().People().Notices(t.Context(), nil, store.Page{})
	if s := w.get(t, stream.ID); !s.Enabled || s.State() != connectors.StreamTrouble || s.LastError != "It answered 502 Bad Gateway." || err != nil ||
		len(notices.Items) != 2 || notices.Items[0].Kind != connectors.NoticeStreamFailing {
		t.Errorf("%+v, %+v, %v", s, notices.Items, err)
	}
}

func TestStream_HalvesABatchThatIsTooLarge(t *testing.T) {
	t.Parallel()
	w, there := newStreamTest(t), receive(t)
	stream := w.create(t, httpsStream(there.URL))
	for range 20 {
		w.endCall(t, "search")
	}
	there.maxEvents.Store(4)
	start(t, w.service)
	w.waitDelivered(t, stream.ID)
	wantChains(t, there.all(), stream.Cursor, w.get(t, stream.ID).Cursor)
	if sizes := there.allSizes(); len(sizes) < 4 || sizes[0] != 21 || sizes[1] != 10 || sizes[2] != 5 || sizes[3] != 2 {
		t.Errorf("sizes = %v", sizes)
	}
}

// A receiver that needs long to refuse a batch as too large has failed, too: it is not retried for ever without a pause.
func TestStream_TooLargeForATurnIsAFailure(t *testing.T) {
	t.Parallel()
	w, there := newStreamTest(t), receive(t)
	stream := w.create(t, httpsStream(there.URL))
	for range 20 {
		w.endCall(t, "search")
	}
	there.maxEvents.Store(4)
	start(t, w.newService(w.St, func(o *auditstreams.Options) { o.Turn = 1 }))
	waitFor(t, "a failure", func() bool { return w.get(t, stream.ID).Failures > 0 })
}

// Reading that takes long ends before the lease, so that no other process sends the same batch beside this one.
func TestStream_ReadingEndsBeforeItsLease(t *testing.T) {
	t.Parallel()
	w, there := newStreamTest(t), receive(t)
	stream := w.create(t, httpsStream(there.URL))
	w.endCall(t, "search")
	owner, err := pgx.Connect(t.Context(), w.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close(context.Background()) }()
	tx, err := owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "lock table audit_chain in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	start(t, w.newService(w.St, func(o *auditstreams.Options) { o.Lease = time.Second }))
	waitFor(t, "the end of the reading", func() bool { return w.get(t, stream.ID).Failures > 0 })
	if there.countTries() != 0 {
		t.Error("something was sent")
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.waitDelivered(t, stream.ID)
	wantChains(t, there.all(), stream.Cursor, w.get(t, stream.ID).Cursor)
}

func TestStream_ReportsAGap(t *testing.T) {
	t.Parallel()
	w, there := newStreamTest(t), receive(t)
	stream := w.create(t, httpsStream(there.URL))
	for range 5 {
		w.endCall(t, "search")
	}
	w.AsOwner(t, "delete from call_outcomes where n <= 3")
	start(t, w.service)
	w.waitDelivered(t, stream.ID)
	events := there.all()
	wantOCSF(t, events)
	var gaps []received
	for _, e := range events {
		if e.Unmapped.Patchbay.Gap != nil {
			gaps = append(gaps, e)
		}
	}
	if len(gaps) != 1 || gaps[0].Unmapped.Patchbay.Gap.From != 1 || gaps[0].Unmapped.Patchbay.Gap.To != 3 || gaps[0].Metadata.Sequence != 3 || gaps[0].Metadata.LogName != "calls" {
		t.Errorf("gaps = %+v", gaps)
	}
	waitFor(t, "the entry about the gap", func() bool {
		for _, e := range there.all() {
			if e.Unmapped.Patchbay.Action == "audit_stream.gap" {
				return true
			}
		}
		return false
	})
	notices, err := w.Door().People().Notices(t.Context(), nil, store.Page{})
	if s := w.get(t, stream.ID); err != nil || s.Gap != "Records 1 to 3 of calls were removed before their delivery." || s.GapAt == nil ||
		len(notices.Items) != 2 || notices.Items[0].Kind != connectors.NoticeStreamGap {
		t.Errorf("%+v, %+v, %v", s, notices.Items, err)
	}
}

func TestStream_ReusesItsConnection(t *testing.T) {
	t.Parallel()
	w := newStreamTest(t)
	var conns atomic.Int64
	there := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(w, io.LimitReader(q.Body, 1000))
	}))
	there.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	there.Start()
	t.Cleanup(there.Close)
	stream := w.create(t, httpsStream(there.URL))
	for range 3 {
		if tested, err := w.service.Test(t.Context(), w.admin, stream.ID); err != nil || !tested.Accepted {
			t.Fatal(tested, err)
		}
	}
	if conns.Load() != 1 {
		t.Errorf("%d connections", conns.Load())
	}
}

func TestStream_SendsNothingOfAnotherTenant(t *testing.T) {
	t.Parallel()
	w, there := newStreamTest(t), receive(t)
	stream := w.create(t, httpsStream(there.URL))
	if err := w.OtherDoor().Audit().Record(t.Context(), store.Event{ActorType: "system", Action: "audit_stream.test", Target: "Theirs"}); err != nil {
		t.Fatal(err)
	}
	w.endCall(t, "search")
	start(t, w.service)
	w.waitDelivered(t, stream.ID)
	wantChains(t, there.all(), stream.Cursor, w.get(t, stream.ID).Cursor)
	for _, e := range there.all() {
		if e.Metadata.Tenant != w.Tenant.String() || bytes.Contains(e.raw, []byte("Theirs")) {
			t.Errorf("%s", e.raw)
		}
	}
}
