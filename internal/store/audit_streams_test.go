package store_test

import (
	"bytes"
	"maps"
	"sync"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func makeStream(t *testing.T, w *fixture.World) connectors.AuditStream {
	t.Helper()
	id, err := w.Door().AuditStreams().Create(t.Context(), newStream("SIEM"), "Bearer secret")
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Door().AuditStreams().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drain reads all records after a cursor and checks the positions of both chains.
func drain(t *testing.T, w *fixture.World, at connectors.AuditCursor) (records []store.StreamRecord, end connectors.AuditCursor) {
	t.Helper()
	for {
		page, err := w.Door().AuditStreams().Pending(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return records, at
		}
		for _, r := range page {
			want := at.AuditN + 1
			if r.Chain == store.ChainCalls {
				want = at.CallsRecord + 1
			}
			if r.Gap == nil && r.Sequence != want {
				t.Fatalf("%s %d, want %d", r.Chain, r.Sequence, want)
			}
			if r.Chain == store.ChainAudit && r.Link.Previous != nil && !bytes.Equal(r.Link.Previous, at.AuditHash) {
				t.Fatalf("%s %d does not follow the entry before", r.Chain, r.Sequence)
			}
			at = r.After
		}
		records = append(records, page...)
	}
}

func TestPending_NumbersRecordsWithoutAGap(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	endCalls(t, w, 3) // before the stream
	s := makeStream(t, w)
	var writers, reader sync.WaitGroup
	calls := make([][]store.OwnedCall, 4)
	for i := range calls {
		calls[i] = batchOf(t, w, 1, 60)
	}
	stop := make(chan struct{})
	seen, at := 0, s.Cursor
	reader.Go(func() {
		for {
			records, end := drain(t, w, at)
			seen, at = seen+len(records), end
			select {
			case <-stop:
				records, end = drain(t, w, at)
				seen, at = seen+len(records), end
				return
			default:
			}
		}
	})
	for i := range calls {
		writers.Go(func() {
			for j := range calls[i] {
				if err := w.St.System().Calls().EndCalls(t.Context(), calls[i][j:j+1]); err != nil {
					t.Error(err)
				}
				if j%10 == 0 {
					if err := w.Door().Audit().Record(t.Context(), store.Event{ActorType: "system", Action: "audit_stream.test"}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	reader.Wait()
	if want := 4*60 + 4*6; seen != want {
		t.Errorf("%d records, want %d", seen, want)
	}
	if _, end := drain(t, w, s.Cursor); end.CallsRecord != at.CallsRecord || end.AuditN != at.AuditN || !bytes.Equal(end.CallsHash, at.CallsHash) {
		t.Errorf("read again: %+v, want %+v", end, at)
	}
	if check := outcomes(t, w); check.Bad != nil {
		t.Errorf("chain: %+v", check.Bad)
	}
}

func TestPending_ResumesWithinALink(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	s := makeStream(t, w)
	calls := endCalls(t, w, 4) // two links of two
	records, end := drain(t, w, s.Cursor)
	if len(records) != 4 {
		t.Fatalf("%d records", len(records))
	}
	rest, again := drain(t, w, records[0].After)
	if len(rest) != 3 || rest[0].Call.ID != records[1].Call.ID || rest[0].Link.Index != 2 || again.CallsRecord != end.CallsRecord || again.CallsN != 2 {
		t.Errorf("%d records, %+v", len(rest), again)
	}
	first := records[0].Call
	c := calls[0]
	for _, call := range calls {
		if call.ID.UUID == first.ID {
			c = call
		}
	}
	if first.ID != c.ID.UUID || first.Agent != c.AgentSlug || first.Tool != c.Tool || first.Caller != "Zoë's program" || first.Address != "203.0.113.9" ||
		first.Outcome != "ok" || first.TokenID == nil || *first.TokenID != c.TokenID.UUID || first.StartedAt.Sub(c.StartedAt).Abs() > time.Millisecond {
		t.Errorf("%+v of %+v", first, c)
	}
	if !bytes.Equal(records[2].Link.Previous, records[1].Link.Hash) {
		t.Error("the second link does not follow the first")
	}
}

func TestPending_ReportsRemovedRecords(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	s := makeStream(t, w)
	endCalls(t, w, 6)
	for range 3 {
		if err := w.Door().Audit().Record(t.Context(), store.Event{ActorType: "system", Action: "audit_stream.test"}); err != nil {
			t.Fatal(err)
		}
	}
	w.AsOwner(t, "delete from call_outcomes where n <= 2", "delete from audit_chain where n <= 2")
	records, _ := drain(t, w, s.Cursor)
	var gaps []store.StreamGap
	for _, r := range records {
		if r.Gap != nil {
			gaps = append(gaps, *r.Gap)
		}
	}
	if len(records) != 2+1+2 || len(gaps) != 2 || gaps[0] != (store.StreamGap{From: 1, To: 2}) || gaps[1] != (store.StreamGap{From: 1, To: 4}) {
		t.Errorf("%d records, gaps %+v", len(records), gaps)
	}
	w.AsOwner(t, "delete from call_outcomes", "delete from audit_chain")
	records, end := drain(t, w, s.Cursor)
	if len(records) != 2 || records[0].Gap.To != 3 || records[1].Gap.To != 6 || end.CallsN != 3 {
		t.Errorf("all removed: %+v, %+v", records, end)
	}
}

func TestStreamLease_IsOneProcessesAlone(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	s, part, vault := makeStream(t, w), w.Door().AuditStreams(), w.St.Vault(w.Tenant)
	claim := func() []store.StreamLease {
		t.Helper()
		leases, err := w.St.System().ClaimAuditStreams(t.Context(), time.Hour, 10)
		if err != nil {
			t.Fatal(err)
		}
		return leases
	}
	if leases := claim(); len(leases) != 0 {
		t.Fatalf("nothing to send: %+v", leases)
	}
	endCalls(t, w, 1)
	first := claim()
	if len(first) != 1 || len(claim()) != 0 {
		t.Fatalf("%+v", first)
	}
	got, value, err := vault.RenewStreamLease(t.Context(), first[0], time.Hour)
	if err != nil || got.ID != s.ID || value.Reveal() != "Bearer secret" {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := asSystem(t.Context(), w.Pool, "update audit_streams set leased_until = now() - interval '1 second'", nil); err != nil {
		t.Fatal(err)
	}
	second := claim()
	if len(second) != 1 {
		t.Fatalf("%+v", second)
	}
	to := s.Cursor
	to.CallsRecord++
	if ok, err := part.Advance(t.Context(), first[0], s.Cursor, to, ""); ok || err != nil {
		t.Errorf("the process without the lease advances: %v, %v", ok, err)
	}
	if _, _, err := part.Fail(t.Context(), first[0], store.StreamFailure{Sentence: "late"}); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	if ok, err := part.Advance(t.Context(), second[0], s.Cursor, to, ""); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if ok, err := part.Advance(t.Context(), second[0], s.Cursor, to, ""); ok || err != nil {
		t.Errorf("the same step again: %v, %v", ok, err)
	}
	changed := s
	changed.Name = "Renamed"
	if err := part.Update(t.Context(), changed, nil, nil); err != nil {
		t.Fatal(err)
	}
	if ok, err := part.Advance(t.Context(), second[0], to, to, ""); !ok || err != nil || len(claim()) != 0 {
		t.Errorf("after a new name: %v, %v", ok, err)
	}
	if err := part.Update(t.Context(), changed, nil, new(false)); err != nil {
		t.Fatal(err)
	}
	if ok, err := part.Advance(t.Context(), second[0], to, to, ""); !ok || err != nil {
		t.Errorf("after it was turned off: %v, %v", ok, err)
	}
	if _, _, err := vault.RenewStreamLease(t.Context(), second[0], time.Hour); !fault.Is(err, fault.NotFound) {
		t.Errorf("renewed while off: %v", err)
	}
	changed.URL += "/elsewhere"
	if err := part.Update(t.Context(), changed, nil, new(true)); err != nil {
		t.Fatal(err)
	}
	if ok, err := part.Advance(t.Context(), second[0], to, to, ""); ok || err != nil {
		t.Errorf("after another receiver: %v, %v", ok, err)
	}
	endCalls(t, w, 1)
	if len(claim()) != 0 {
		t.Error("claimed while the attempt to the old receiver may run")
	}
	if err := asSystem(t.Context(), w.Pool, "update audit_streams set leased_until = leased_until - interval '31 seconds'", nil); err != nil {
		t.Fatal(err)
	}
	if len(claim()) != 1 {
		t.Error("not claimed after half a minute")
	}
	if now, err := part.Get(t.Context(), s.ID); err != nil || now.Cursor.CallsRecord != to.CallsRecord || now.Name != "Renamed" {
		t.Errorf("%+v, %v", now, err)
	}
}

func TestAuditStreamSecret_IsBoundToItsReceiver(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	s := makeStream(t, w)
	s.URL = "https://elsewhere.example.com/"
	if err := w.Door().AuditStreams().Update(t.Context(), s, nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, value, err := w.St.Vault(w.Tenant).AuditStreamSecret(t.Context(), s.ID); err == nil || !value.Empty() {
		t.Errorf("the secret opens for another receiver: %v", err)
	}
	s = makeStream(t, w)
	if err := asSystem(t.Context(), w.Pool, "update audit_streams set url = 'https://elsewhere.example.com/' where id = '"+s.ID.String()+"'", nil); err != nil {
		t.Fatal(err)
	}
	if _, value, err := w.St.Vault(w.Tenant).AuditStreamSecret(t.Context(), s.ID); err == nil || !value.Empty() {
		t.Errorf("the secret opens for a URL that was written past Update: %v", err)
	}
}

func TestUpdate_KeepsWhyAStreamPaused(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	s, part := makeStream(t, w), w.Door().AuditStreams()
	if paused, err := part.Pause(t.Context(), s.ID, connectors.StreamGone); err != nil || !paused {
		t.Fatal(paused, err)
	}
	s.Name = "Renamed" // read before the pause: its switch is old
	if err := part.Update(t.Context(), s, nil, nil); err != nil {
		t.Fatal(err)
	}
	if now, err := part.Get(t.Context(), s.ID); err != nil || now.Enabled || now.DisabledWhy != connectors.StreamGone || now.Name != "Renamed" {
		t.Errorf("%+v, %v", now, err)
	}
	if err := part.Update(t.Context(), s, nil, new(true)); err != nil {
		t.Fatal(err)
	}
	if now, err := part.Get(t.Context(), s.ID); err != nil || !now.Enabled || now.DisabledWhy != connectors.StreamOnOrOff {
		t.Errorf("turned on: %+v, %v", now, err)
	}
}

// A link of calls that cannot be read holds up the calls, not the audit log.
func TestPending_UnreadableCallsDoNotStopTheAuditLog(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	s := makeStream(t, w)
	endCalls(t, w, 1)
	if err := w.Door().Audit().Record(t.Context(), store.Event{ActorType: "system", Action: "audit_stream.test"}); err != nil {
		t.Fatal(err)
	}
	w.AsOwner(t, "update call_outcomes set body = '\\x00'")
	page, err := w.Door().AuditStreams().Pending(t.Context(), s.Cursor)
	if err != nil || len(page) != 1 || page[0].Event == nil {
		t.Fatalf("%+v, %v", page, err)
	}
	if page, err = w.Door().AuditStreams().Pending(t.Context(), page[0].After); err == nil {
		t.Errorf("the link was read: %+v", page)
	}
}

// What a cut removes before its delivery is one gap of each chain, with its exact positions.
func TestPending_ReportsACut(t *testing.T) {
	t.Parallel()
	w, end := aged(t)
	s := makeStream(t, w)
	endCalls(t, w, 7)
	atTime(t, w, end.Add(-time.Hour), end.Add(-time.Microsecond), end, end.Add(time.Hour))
	start := connectors.AuditCursor{AuditHash: make([]byte, 32), CallsHash: make([]byte, 32)} // before all entries
	if records, _ := drain(t, w, start); len(records) != 3+7 {
		t.Fatalf("%d records before the cut", len(records))
	}
	cutOff(t, w, end)
	for name, tc := range map[string]struct {
		from connectors.AuditCursor
		gaps map[string]store.StreamGap
	}{
		"a stream that sent nothing": {start, map[string]store.StreamGap{store.ChainAudit: {From: 1, To: 3}, store.ChainCalls: {From: 1, To: 4}}},
		"a stream that sent some":    {connectors.AuditCursor{AuditN: 2, AuditHash: start.AuditHash, CallsRecord: 1, CallsHash: start.CallsHash}, map[string]store.StreamGap{store.ChainAudit: {From: 3, To: 3}, store.ChainCalls: {From: 2, To: 4}}},
		"a stream that sent all":     {connectors.AuditCursor{AuditN: 3, AuditHash: s.Cursor.AuditHash, CallsN: 2, CallsRecord: 4, CallsHash: start.CallsHash}, map[string]store.StreamGap{}},
	} {
		records, at := drain(t, w, tc.from)
		gaps := map[string]store.StreamGap{}
		for _, r := range records {
			if r.Gap != nil {
				gaps[r.Chain] = *r.Gap
			}
		}
		if !maps.Equal(gaps, tc.gaps) || at.CallsRecord != 7 || at.AuditN != 4 {
			t.Errorf("%s: gaps %v, ends at %+v", name, gaps, at)
		}
	}
}
