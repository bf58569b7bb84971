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

// OutcomeCheck is the result of checking a tenant's recorded call outcomes.
type OutcomeCheck struct {
	Calls  int64            // outcomes that were checked
	Gone   int64            // of these, calls that retention has removed from the history
	Places int64            // links of the chain, one per batch of ended calls
	Cut    int64            // of these, links at the beginning that were removed by retention, signed
	Head   []byte           // hash over all links, 32 bytes
	Bad    *OutcomeMismatch // nil: every kept call matches its record
	Rest   *OutcomeCursor   // where to continue; nil: done
}

// OutcomeMismatch is a place where calls differ from their recorded outcomes.
type OutcomeMismatch struct {
	N      int64 // number of the link, from 1
	Call   *connectors.ToolCallID
	Reason AuditReason
}

// Flaws besides those of the audit log.
const (
	OutcomeLinkChanged AuditReason = "The record of call outcomes was altered, here or earlier."
	OutcomeChanged     AuditReason = "The call in the history doesn't match its recorded outcome."
	OutcomeGone        AuditReason = "The call disappeared from the history too early."
)

const (
	maxOutcomeLinks = 500  // links per query; their calls do not far exceed
	maxOutcomeCalls = 4000 // some megabytes
	// maxLost bounds the calls recorded as lost that differ in the history and wait for a later link to explain
	// them: as many as a job's row holds.
	maxLost = 1 << 19
)

// OutcomeCursor is the progress of a check along the chain.
type OutcomeCursor struct {
	Tenant connectors.TenantID `json:"tenant"`
	N      int64               `json:"n"`    // links up to N are intact or cut off
	Hash   []byte              `json:"hash"` // of link N
	Cut    int64               `json:"cut"`
	Calls  int64               `json:"calls"`
	Gone   int64               `json:"gone"`

	Missing  uuid.UUID `json:"missing"`   // the newest call that is missing in the history
	MissingN int64     `json:"missing_n"` // the link with its outcome
	Removed  uuid.UUID `json:"removed"`   // retention has removed calls up to this one
	Lost     lostCalls `json:"lost"`      // calls recorded as lost that differ in the history

	afterHead bool // links after the check's start are read, and not compared with the history
	flaw      *OutcomeMismatch
}

// CheckOutcomes recomputes the tenant's chain of call outcomes and compares each with the history. It starts at
// the first link, or at from, and stops at until if that is not zero, with Rest set. The result of a complete
// check is stored. It takes microseconds per call.
func (t Audit) CheckOutcomes(ctx context.Context, from *OutcomeCursor, until time.Time) (OutcomeCheck, error) {
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

// computeOutcomes computes the chain. If retention removes its beginning meanwhile, it starts once more.
func (t *tenant) computeOutcomes(ctx context.Context, from *OutcomeCursor, head *dbgen.OutcomeHeadRow, until time.Time) (w *OutcomeCursor, whole bool, err error) {
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
		if isDeleted, err := t.isDeleted(ctx); err != nil || isDeleted {
			return &OutcomeCursor{Tenant: t.id}, true, err
		}
		now, err := t.beginOutcomes(ctx, head.First)
		if err != nil || now.Cut == begin.Cut {
			return w, true, err
		}
		w, begin = now, now
	}
}

// outcomeHead reads the end of the chain. Without a row the tenant is deleted, or the chain is damaged.
func (t *tenant) outcomeHead(ctx context.Context) (dbgen.OutcomeHeadRow, error) {
	head, err := t.q.OutcomeHead(ctx, t.id)
	if !errors.Is(err, pgx.ErrNoRows) {
		return head, err
	}
	head = dbgen.OutcomeHeadRow{Hash: make([]byte, sha256.Size)}
	isDeleted, err := t.isDeleted(ctx)
	if !isDeleted {
		head.Places = 1
	}
	return head, err
}

// isDeleted reports whether the tenant is deleted.
func (t *tenant) isDeleted(ctx context.Context) (bool, error) {
	_, err := t.q.Tenant(ctx, t.id)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, nil
	}
	return false, err
}

// walkOutcomes follows the chain to its end at the start of the check. Calls may have changed since, so if any
// differ it reads on to the current end, where later links explain them or do not.
func (t *tenant) walkOutcomes(ctx context.Context, w *OutcomeCursor, head *dbgen.OutcomeHeadRow, until time.Time) (whole bool, err error) {
	if whole, err := t.followOutcomes(ctx, w, head, until); err != nil || !whole {
		return false, err
	}
	if w.flaw == nil && w.findUnresolved() != nil {
		if *head, err = t.outcomeHead(ctx); err != nil {
			return false, err
		}
		w.afterHead = true
		if _, err := t.followOutcomes(ctx, w, head, time.Time{}); err != nil {
			return false, err
		}
	}
	if w.flaw == nil {
		w.flaw = w.findUnresolved()
	}
	return true, nil
}

// followOutcomes follows the chain to end, to the first flaw, or until a time.
func (t *tenant) followOutcomes(ctx context.Context, w *OutcomeCursor, end *dbgen.OutcomeHeadRow, until time.Time) (whole bool, err error) {
	for w.flaw == nil && w.N < end.Places {
		if !until.IsZero() && time.Now().After(until) {
			return false, nil
		}
		links, err := t.q.OutcomeLinks(ctx, dbgen.OutcomeLinksParams{TenantID: t.id, After: w.N, Until: end.Places, MaxRows: maxOutcomeLinks, MaxCalls: maxOutcomeCalls})
		if err != nil {
			return false, err
		}
		if len(links) == 0 {
			w.recordFlaw(w.N+1, nil, AuditRestGone)
		}
		if err := t.compareOutcomes(ctx, w, links); err != nil {
			return false, err
		}
	}
	if w.flaw == nil && !bytes.Equal(w.Hash, end.Hash) {
		w.recordFlaw(w.N, nil, AuditEndMoved)
	}
	return true, nil
}

// compareOutcomes adds links and compares their outcomes with the history.
func (t *tenant) compareOutcomes(ctx context.Context, w *OutcomeCursor, links []dbgen.OutcomeLinksRow) error {
	ends := make([][]outcomeRow, len(links))
	var ids []uuid.UUID
	for i := range links {
		if ends[i] = w.addLink(&links[i]); w.flaw != nil {
			return nil
		}
		for _, end := range ends[i] {
			ids = append(ids, uuid.UUID(end[columnID]))
		}
	}
	if w.afterHead || len(ids) == 0 {
		for i := range links {
			w.resolveLost(&links[i], ends[i])
		}
		return nil
	}
	rows, err := t.q.CallEnds(ctx, t.id, ids)
	if err != nil {
		return err
	}
	have := make(map[uuid.UUID]outcomeRow, len(rows))
	for _, row := range rows {
		have[row.ID.UUID] = row.Columns
	}
	for i := range links {
		w.resolveLost(&links[i], ends[i])
		for _, end := range ends[i] {
			w.compareCall(&links[i], end, have[uuid.UUID(end[columnID])])
		}
	}
	return nil
}

func (w *OutcomeCursor) recordFlaw(n int64, call *uuid.UUID, reason AuditReason) {
	if w.flaw != nil {
		return
	}
	w.flaw = &OutcomeMismatch{N: n, Reason: reason}
	if call != nil {
		w.flaw.Call = &connectors.ToolCallID{UUID: *call}
	}
}

// addLink adds one link and returns its outcomes.
func (w *OutcomeCursor) addLink(l *dbgen.OutcomeLinksRow) []outcomeRow {
	if l.N != w.N+1 {
		w.recordFlaw(w.N+1, nil, AuditLinkGone)
		return nil
	}
	sum := outcomeHash(w.Tenant, w.Hash, l)
	if !bytes.Equal(sum, l.Hash) {
		w.recordFlaw(l.N, nil, OutcomeLinkChanged)
		return nil
	}
	w.N, w.Hash = l.N, sum
	if l.Kind == "removed" {
		if id, err := uuid.FromBytes(l.Body); err == nil && bytes.Compare(id[:], w.Removed[:]) > 0 {
			w.Removed = id
		}
		return nil
	}
	ends, err := unpackOutcomes(l.Body, l.Calls)
	if err != nil {
		w.recordFlaw(l.N, nil, OutcomeLinkChanged)
	}
	return ends
}

// resolveLost applies a later link to calls that differ. Only a call recorded as lost may change: its process
// reported the outcome after all.
func (w *OutcomeCursor) resolveLost(l *dbgen.OutcomeLinksRow, ends []outcomeRow) {
	if l.Kind != "changed" {
		return
	}
	for _, end := range ends {
		id := uuid.UUID(end[columnID])
		if n, is := w.Lost[id]; is && end.isLost() {
			w.recordFlaw(n, &id, OutcomeChanged)
		}
		delete(w.Lost, id)
	}
}

// compareCall compares a recorded outcome with the row in the history; row nil: missing.
func (w *OutcomeCursor) compareCall(l *dbgen.OutcomeLinksRow, end, row outcomeRow) {
	id := uuid.UUID(end[columnID])
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
	case !end.hasOutcome(row):
		if w.Lost == nil {
			w.Lost = lostCalls{}
		}
		// The history was read after the link, so no later link can explain another kind of difference.
		if _, twice := w.Lost[id]; twice || !end.isLost() || len(w.Lost) == maxLost {
			w.recordFlaw(l.N, &id, OutcomeChanged)
		}
		w.Lost[id] = l.N
	}
}

// findUnresolved returns the flaw that the links so far leave unexplained; nil: none.
func (w *OutcomeCursor) findUnresolved() *OutcomeMismatch {
	var first *OutcomeMismatch
	if bytes.Compare(w.Missing[:], w.Removed[:]) > 0 {
		first = &OutcomeMismatch{N: w.MissingN, Call: &connectors.ToolCallID{UUID: w.Missing}, Reason: OutcomeGone}
	}
	for id, n := range w.Lost {
		if first == nil || n < first.N || n == first.N && bytes.Compare(id[:], first.Call.UUID[:]) < 0 {
			first = &OutcomeMismatch{N: n, Call: &connectors.ToolCallID{UUID: id}, Reason: OutcomeChanged}
		}
	}
	return first
}

// outcomeHash is the Go equivalent of SQL function outcome_hash.
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

// OutcomeState is the result of the last complete check of call outcomes.
type OutcomeState struct {
	Calls     int64            // recorded outcomes
	CheckedAt *time.Time       // nil: never
	Good      int64            // outcomes that were checked
	Bad       *OutcomeMismatch // nil: every call matched
}

// OutcomeState reads the result of the last complete check.
func (t Audit) OutcomeState(ctx context.Context) (OutcomeState, error) {
	head, err := t.outcomeHead(ctx)
	if err != nil {
		return OutcomeState{}, err
	}
	state := OutcomeState{Calls: head.Calls, CheckedAt: head.CheckedAt}
	if head.CheckedCalls != nil {
		state.Good = *head.CheckedCalls
	}
	if head.CheckedBad != nil {
		state.Bad = &OutcomeMismatch{N: *head.CheckedBad, Reason: OutcomeLinkChanged}
		if head.CheckedReason != nil {
			state.Bad.Reason = AuditReason(*head.CheckedReason)
		}
		if head.CheckedCall != nil {
			state.Bad.Call = &connectors.ToolCallID{UUID: *head.CheckedCall}
		}
	}
	return state, nil
}
