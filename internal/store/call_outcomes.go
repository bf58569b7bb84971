package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// OutcomeCheck is what a check of how a tenant's calls ended found.
type OutcomeCheck struct {
	Calls  int64        // whose end is on record and was looked at
	Gone   int64        // of them, those that are not kept any more, being old: their end is still on record
	Places int64        // of the chain, one for each batch of calls that ended
	Cut    int64        // of them, those at the beginning that were cut off because they were old, which is signed
	Head   []byte       // the hash that covers all of them, 32 bytes
	Bad    *OutcomeFlaw // nil: every call that is kept ended as it is on record
	Rest   *OutcomeWalk // where to go on; nil: everything was looked at
}

// OutcomeFlaw is a place where calls are not as it was put on record that they ended.
type OutcomeFlaw struct {
	N      int64 // of the chain, from 1
	Call   *connectors.ToolCallID
	Reason AuditReason
}

// What may be wrong beside what may be with the audit log.
const (
	OutcomeLinkChanged AuditReason = "What is on record of calls that ended is not what was recorded, or something before it is not."
	OutcomeChanged     AuditReason = "The call does not stand in the history as it ended."
	OutcomeGone        AuditReason = "The call is gone from the history, and was not old enough to be removed."
)

const (
	outcomeRows  = 500  // links that are read at once, of not many more calls than
	outcomeCalls = 4000 // some megabytes
	// mostLost is how many calls that were believed lost may stand otherwise in the history until the chain says why: as many as a job's row holds.
	mostLost = 1 << 19
)

// OutcomeWalk is how far a check has come along the chain.
type OutcomeWalk struct {
	Tenant connectors.TenantID `json:"tenant"`
	N      int64               `json:"n"`    // the links up to this one are good, or were cut off
	Hash   []byte              `json:"hash"` // of that one
	Cut    int64               `json:"cut"`
	Calls  int64               `json:"calls"`
	Gone   int64               `json:"gone"`

	Missing  uuid.UUID `json:"missing"`   // the newest call that is not in the history
	MissingN int64     `json:"missing_n"` // of whose end this link tells
	Removed  uuid.UUID `json:"removed"`   // up to this one calls were removed that were old
	Lost     lostCalls `json:"lost"`      // calls that were believed lost, and stand otherwise in the history

	settles bool // what is read now is of after the check began, and is not held against the history
	flaw    *OutcomeFlaw
}

// CheckOutcomes computes the tenant's chain of calls' outcomes anew and compares each with the call in the history, from the chain's first link, or
// from where an earlier check stopped, to the one that is the last; it stops at a time, when that is not zero, and then tells where to go on.
// What it found of the whole is kept. It takes some microseconds a call.
func (t *Tenant) CheckOutcomes(ctx context.Context, from *OutcomeWalk, until time.Time) (OutcomeCheck, error) {
	head, err := t.outcomeHead(ctx)
	if err != nil {
		return OutcomeCheck{}, err
	}
	w, whole, err := t.computeOutcomes(ctx, from, &head, until)
	if err != nil {
		return OutcomeCheck{}, err
	}
	check := OutcomeCheck{Calls: w.Calls, Gone: w.Gone, Places: head.Places, Cut: w.Cut, Head: head.Hash, Bad: w.flaw}
	if !whole {
		check.Rest = w
		return check, nil
	}
	found := dbgen.SetOutcomesCheckedParams{TenantID: t.id, Calls: &check.Calls}
	if bad := check.Bad; bad != nil {
		found.Bad, found.Reason = &bad.N, new(string(bad.Reason))
		if bad.Call != nil {
			found.Call = &bad.Call.UUID
		}
	}
	return check, t.q.SetOutcomesChecked(ctx, found)
}

// computeOutcomes computes the chain. Where its beginning is cut off meanwhile, it begins once more.
func (t *Tenant) computeOutcomes(ctx context.Context, from *OutcomeWalk, head *dbgen.OutcomeHeadRow, until time.Time) (w *OutcomeWalk, whole bool, err error) {
	begin, err := t.beginOutcomes(ctx, head.First)
	if err != nil {
		return nil, false, err
	}
	if w = from; w == nil || w.Tenant != t.id || w.N < begin.N || begin.flaw != nil {
		w = begin
	}
	for {
		if whole, err = t.walkOutcomes(ctx, w, head, until); err != nil || w.flaw == nil {
			return w, whole, err
		}
		if *head, err = t.outcomeHead(ctx); err != nil || head.First == begin.Cut+1 {
			return w, true, err
		}
		if gone, err := t.gone(ctx); err != nil || gone {
			return &OutcomeWalk{Tenant: t.id}, true, err
		}
		now, err := t.beginOutcomes(ctx, head.First)
		if err != nil || now.Cut == begin.Cut {
			return w, true, err
		}
		w, begin = now, now
	}
}

// outcomeHead is the end of the chain. It goes with its tenant; where it went without, a place is missed.
func (t *Tenant) outcomeHead(ctx context.Context) (dbgen.OutcomeHeadRow, error) {
	head, err := t.q.OutcomeHead(ctx, t.id)
	if !errors.Is(err, pgx.ErrNoRows) {
		return head, err
	}
	head = dbgen.OutcomeHeadRow{Hash: make([]byte, sha256.Size)}
	gone, err := t.gone(ctx)
	if !gone {
		head.Places = 1
	}
	return head, err
}

// gone tells whether the tenant is deleted: of its calls there is nothing to be found then.
func (t *Tenant) gone(ctx context.Context) (bool, error) {
	_, err := t.q.Tenant(ctx, t.id)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, nil
	}
	return false, err
}

// walkOutcomes goes along the chain to where it ended when the check began. What stands otherwise in the history may have come to be meanwhile, of
// which the chain tells since: where there is such, it reads on to the chain's end of now, which settles it or does not.
func (t *Tenant) walkOutcomes(ctx context.Context, w *OutcomeWalk, head *dbgen.OutcomeHeadRow, until time.Time) (whole bool, err error) {
	if whole, err := t.followOutcomes(ctx, w, head, until); err != nil || !whole {
		return false, err
	}
	if w.flaw == nil && w.unsettled() != nil {
		if *head, err = t.outcomeHead(ctx); err != nil {
			return false, err
		}
		w.settles = true
		if _, err := t.followOutcomes(ctx, w, head, time.Time{}); err != nil {
			return false, err
		}
	}
	if w.flaw == nil {
		w.flaw = w.unsettled()
	}
	return true, nil
}

// followOutcomes goes along the chain up to its end, to the first flaw, or to a time.
func (t *Tenant) followOutcomes(ctx context.Context, w *OutcomeWalk, end *dbgen.OutcomeHeadRow, until time.Time) (whole bool, err error) {
	for w.flaw == nil && w.N < end.Places {
		if !until.IsZero() && time.Now().After(until) {
			return false, nil
		}
		links, err := t.q.OutcomeLinks(ctx, dbgen.OutcomeLinksParams{TenantID: t.id, After: w.N, Until: end.Places, MaxRows: outcomeRows, MaxCalls: outcomeCalls})
		if err != nil {
			return false, err
		}
		if len(links) == 0 {
			w.fail(w.N+1, nil, AuditRestGone)
		}
		if err := t.compareOutcomes(ctx, w, links); err != nil {
			return false, err
		}
	}
	if w.flaw == nil && !bytes.Equal(w.Hash, end.Hash) {
		w.fail(w.N, nil, AuditEndMoved)
	}
	return true, nil
}

// compareOutcomes follows some links, and holds what they tell against the history.
func (t *Tenant) compareOutcomes(ctx context.Context, w *OutcomeWalk, links []dbgen.OutcomeLinksRow) error {
	ends := make([][]callEnd, len(links))
	var ids []uuid.UUID
	for i := range links {
		if ends[i] = w.add(&links[i]); w.flaw != nil {
			return nil
		}
		for _, end := range ends[i] {
			ids = append(ids, uuid.UUID(end[endID]))
		}
	}
	if w.settles || len(ids) == 0 {
		for i := range links {
			w.settle(&links[i], ends[i])
		}
		return nil
	}
	rows, err := t.q.CallEnds(ctx, t.id, ids)
	if err != nil {
		return err
	}
	have := make(map[uuid.UUID]callEnd, len(rows))
	for _, row := range rows {
		have[row.ID.UUID] = row.Columns
	}
	for i := range links {
		w.settle(&links[i], ends[i])
		for _, end := range ends[i] {
			w.compare(&links[i], end, have[uuid.UUID(end[endID])])
		}
	}
	return nil
}

func (w *OutcomeWalk) fail(n int64, call *uuid.UUID, reason AuditReason) {
	if w.flaw != nil {
		return
	}
	w.flaw = &OutcomeFlaw{N: n, Reason: reason}
	if call != nil {
		w.flaw.Call = &connectors.ToolCallID{UUID: *call}
	}
}

// add follows one link, and says of which ends it tells.
func (w *OutcomeWalk) add(l *dbgen.OutcomeLinksRow) []callEnd {
	if l.N != w.N+1 {
		w.fail(w.N+1, nil, AuditLinkGone)
		return nil
	}
	sum := outcomeHash(w.Tenant, w.Hash, l)
	if !bytes.Equal(sum, l.Hash) {
		w.fail(l.N, nil, OutcomeLinkChanged)
		return nil
	}
	w.N, w.Hash = l.N, sum
	if l.Kind == "removed" {
		if id, err := uuid.FromBytes(l.Body); err == nil && bytes.Compare(id[:], w.Removed[:]) > 0 {
			w.Removed = id
		}
		return nil
	}
	ends, err := unpackEnds(l.Body, l.Calls)
	if err != nil {
		w.fail(l.N, nil, OutcomeLinkChanged)
	}
	return ends
}

// settle hears of changes of what stands otherwise in the history: there is an honest one, of a call that was believed lost, when its process tells
// how it ended.
func (w *OutcomeWalk) settle(l *dbgen.OutcomeLinksRow, ends []callEnd) {
	if l.Kind != "changed" {
		return
	}
	for _, end := range ends {
		id := uuid.UUID(end[endID])
		if n, is := w.Lost[id]; is && end.lost() {
			w.fail(n, &id, OutcomeChanged)
		}
		delete(w.Lost, id)
	}
}

// compare holds an end that is on record against the row in the history; nil: there is none.
func (w *OutcomeWalk) compare(l *dbgen.OutcomeLinksRow, end, row callEnd) {
	id := uuid.UUID(end[endID])
	if l.Kind == "ended" {
		w.Calls++
	}
	switch {
	case row == nil:
		if l.Kind == "ended" {
			w.Gone++
		}
		if bytes.Compare(id[:], w.Missing[:]) > 0 {
			w.Missing, w.MissingN = id, l.N
		}
	case !end.is(row):
		if w.Lost == nil {
			w.Lost = lostCalls{}
		}
		// The history was read after the link: no later one makes an end of another kind honest.
		if _, twice := w.Lost[id]; twice || !end.lost() || len(w.Lost) == mostLost {
			w.fail(l.N, &id, OutcomeChanged)
		}
		w.Lost[id] = l.N
	}
}

// unsettled is what the chain, up to where it was followed, does not account for; nil: nothing.
func (w *OutcomeWalk) unsettled() *OutcomeFlaw {
	var first *OutcomeFlaw
	if bytes.Compare(w.Missing[:], w.Removed[:]) > 0 {
		first = &OutcomeFlaw{N: w.MissingN, Call: &connectors.ToolCallID{UUID: w.Missing}, Reason: OutcomeGone}
	}
	for id, n := range w.Lost {
		if first == nil || n < first.N || n == first.N && bytes.Compare(id[:], first.Call.UUID[:]) < 0 {
			first = &OutcomeFlaw{N: n, Call: &connectors.ToolCallID{UUID: id}, Reason: OutcomeChanged}
		}
	}
	return first
}

// outcomeHash is outcome_hash of db/migrations/00058_call_outcomes.sql, computed outside the database.
func outcomeHash(tenant connectors.TenantID, before []byte, l *dbgen.OutcomeLinksRow) []byte {
	h := sha256.New()
	h.Write(before)
	b := binary.BigEndian.AppendUint64(nil, uint64(l.N)) //nolint:gosec // positive
	b = append(b, tenant.UUID[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(l.At.UnixMicro())) //nolint:gosec // two's complement, as int8send
	b = appendAuditField(b, &l.Kind)
	b = binary.BigEndian.AppendUint64(b, uint64(l.Calls)) //nolint:gosec // likewise
	h.Write(b)
	h.Write(l.Body)
	return h.Sum(nil)
}

// OutcomeState is what the last whole check of how the tenant's calls ended found.
type OutcomeState struct {
	Calls     int64        // whose end is on record
	CheckedAt *time.Time   // nil: never
	Good      int64        // calls that were looked at
	Bad       *OutcomeFlaw // nil: each was as it is on record
}

// OutcomeState reads it.
func (t *Tenant) OutcomeState(ctx context.Context) (OutcomeState, error) {
	head, err := t.outcomeHead(ctx)
	if err != nil {
		return OutcomeState{}, err
	}
	state := OutcomeState{Calls: head.Calls, CheckedAt: head.CheckedAt}
	if head.CheckedCalls != nil {
		state.Good = *head.CheckedCalls
	}
	if head.CheckedBad != nil {
		state.Bad = &OutcomeFlaw{N: *head.CheckedBad, Reason: OutcomeLinkChanged}
		if head.CheckedReason != nil {
			state.Bad.Reason = AuditReason(*head.CheckedReason)
		}
		if head.CheckedCall != nil {
			state.Bad.Call = &connectors.ToolCallID{UUID: *head.CheckedCall}
		}
	}
	return state, nil
}
