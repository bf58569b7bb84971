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

// AuditCheck is the result of checking a tenant's audit chain.
type AuditCheck struct {
	Events int64      // entries in the chain
	Head   []byte     // hash over all entries, 32 bytes; nil: no entries
	Bad    *AuditFlaw // nil: every entry is intact
	Cut    int64      // of these, entries at the beginning that were removed by retention, signed
}

// AuditFlaw is the first place where the log differs from what was recorded.
type AuditFlaw struct {
	N       int64      // from 1
	EventID *uuid.UUID // entry at this place; nil: none
	Reason  AuditReason
	Last    *uuid.UUID // the last intact entry before it; nil: none
}

// AuditReason is a sentence that explains a flaw.
type AuditReason string

// Flaws of a chain.
const (
	AuditChanged   AuditReason = "This entry or an earlier one was altered."
	AuditEntryGone AuditReason = "The entry is missing."
	AuditLinkGone  AuditReason = "The link is missing."
	AuditRestGone  AuditReason = "The chain is missing from here on."
	AuditEndMoved  AuditReason = "The chain doesn't end with its recorded hash."
	AuditUnlinked  AuditReason = "Some entries aren't in the chain."
	AuditCutOff    AuditReason = "Earlier entries were removed without a signed record."
)

// auditPageSize is the number of links per query: some megabytes with their entries.
const auditPageSize = 2000

// Check recomputes the tenant's audit chain up to the last entry at its start, and stores the result. It
// takes microseconds per entry.
func (t Audit) Check(ctx context.Context) (AuditCheck, error) {
	head, err := t.q.AuditHead(ctx, t.id)
	if errors.Is(err, pgx.ErrNoRows) {
		head, err = dbgen.AuditHeadRow{}, nil
	}
	if err != nil {
		return AuditCheck{}, err
	}
	c, err := t.computeAudit(ctx, head)
	if err != nil {
		return AuditCheck{}, err
	}
	check := AuditCheck{Events: head.Events, Head: head.Hash, Bad: c.flaw, Cut: c.cut}
	found := dbgen.SetAuditCheckedParams{TenantID: t.id, Events: &c.n}
	if bad := c.flaw; bad != nil {
		found.Bad, found.Reason, found.Event, found.Last = &bad.N, new(string(bad.Reason)), bad.EventID, bad.Last
	}
	return check, t.q.SetAuditChecked(ctx, found)
}

// computeAudit computes the chain. If retention removes its beginning meanwhile, it retries once with the new
// beginning.
func (t *tenant) computeAudit(ctx context.Context, head dbgen.AuditHeadRow) (auditChain, error) {
	for {
		cut, is, err := t.lastCut(ctx)
		if err != nil {
			return auditChain{}, err
		}
		c := auditChain{tenant: t.id, lastHash: make([]byte, sha256.Size)}
		if !is || cut.Entries > 0 && !c.startAtCut(cut) {
			c.recordFlaw(1, nil, AuditCutOff)
		}
		if err := t.followAudit(ctx, &c, head.Events); err != nil {
			return c, err
		}
		if err := t.compareAuditEnd(ctx, &c, head); err != nil {
			return c, err
		}
		if c.flaw == nil {
			return c, nil
		}
		if now, _, err := t.lastCut(ctx); err != nil || now.Entries == cut.Entries {
			return c, err
		}
	}
}

// followAudit adds links up to number until, or to the first flaw.
func (t *tenant) followAudit(ctx context.Context, c *auditChain, until int64) error {
	for c.flaw == nil && c.n < until {
		links, err := t.q.AuditLinks(ctx, dbgen.AuditLinksParams{TenantID: t.id, After: c.n, Until: until, MaxRows: auditPageSize})
		if err != nil {
			return err
		}
		if len(links) == 0 {
			c.recordFlaw(c.n+1, nil, AuditRestGone)
		}
		for i := range links {
			c.addLink(&links[i])
		}
	}
	return nil
}

// compareAuditEnd compares the chain's end with the stored head, and looks for unlinked entries.
func (t *tenant) compareAuditEnd(ctx context.Context, c *auditChain, head dbgen.AuditHeadRow) error {
	if c.flaw == nil && head.Events > 0 && !bytes.Equal(c.lastHash, head.Hash) {
		c.recordFlaw(c.n, nil, AuditEndMoved)
	}
	if c.flaw != nil {
		return nil
	}
	beside, err := t.q.CountUnlinkedEvents(ctx, t.id)
	if err == nil && beside > 0 {
		c.recordFlaw(c.n+1, nil, AuditUnlinked)
	}
	return err
}

// auditChain is a chain while it is computed.
type auditChain struct {
	tenant   connectors.TenantID
	n        int64  // intact and removed links so far
	cut      int64  // of these, removed links
	lastHash []byte // hash of link n
	last     *uuid.UUID
	flaw     *AuditFlaw
}

func (c *auditChain) recordFlaw(n int64, event *uuid.UUID, reason AuditReason) {
	if c.flaw == nil {
		c.flaw = &AuditFlaw{N: n, EventID: event, Reason: reason, Last: c.last}
	}
}

func (c *auditChain) addLink(l *dbgen.AuditLinksRow) {
	switch {
	case c.flaw != nil:
	case l.N != c.n+1:
		c.recordFlaw(c.n+1, nil, AuditLinkGone)
	case !l.Present:
		c.recordFlaw(l.N, &l.EventID, AuditEntryGone)
	default:
		sum := auditHash(c.tenant, c.lastHash, l)
		if !bytes.Equal(sum, l.Hash) {
			c.recordFlaw(l.N, &l.EventID, AuditChanged)
			return
		}
		c.n, c.lastHash, c.last = l.N, sum, &l.EventID
	}
}

// auditHash is the Go equivalent of SQL function audit_hash.
func auditHash(tenant connectors.TenantID, before []byte, l *dbgen.AuditLinksRow) []byte {
	b := append(make([]byte, 0, 512), before...)
	b = binary.BigEndian.AppendUint64(b, uint64(l.N)) //nolint:gosec // positive
	b = append(append(b, tenant.UUID[:]...), l.EventID[:]...)
	var at time.Time
	if l.At != nil {
		at = *l.At
	}
	b = binary.BigEndian.AppendUint64(b, uint64(at.UnixMicro())) //nolint:gosec // two's complement, as int8send
	var actor *string
	if l.ActorID != nil {
		actor = new(l.ActorID.String())
	}
	for _, column := range []*string{l.ActorType, actor, l.ActorName, l.Action, l.Target, &l.Detail, l.RequestID, l.Ip} {
		b = appendAuditField(b, column)
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// appendAuditField appends a column as a 32-bit length and its bytes; null has length -1.
func appendAuditField(b []byte, column *string) []byte {
	if column == nil {
		return binary.BigEndian.AppendUint32(b, ^uint32(0))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(*column))) //nolint:gosec // a column has less than a gigabyte
	return append(b, *column...)
}

// AuditState is the result of the last check of the tenant's audit chain.
type AuditState struct {
	Events    int64      // entries recorded up to now
	CheckedAt *time.Time // nil: never
	Good      int64      // intact entries of that check
	Bad       *AuditFlaw // nil: every entry was intact
}

// State reads the result of the last check.
func (t Audit) State(ctx context.Context) (AuditState, error) {
	head, err := t.q.AuditHead(ctx, t.id)
	if errors.Is(err, pgx.ErrNoRows) {
		return AuditState{}, nil
	}
	if err != nil {
		return AuditState{}, err
	}
	state := AuditState{Events: head.Events, CheckedAt: head.CheckedAt}
	if head.CheckedEvents != nil {
		state.Good = *head.CheckedEvents
	}
	if head.CheckedBad != nil {
		state.Bad = &AuditFlaw{N: *head.CheckedBad, EventID: head.CheckedEvent, Reason: AuditChanged, Last: head.CheckedLast}
	}
	if head.CheckedBad != nil && head.CheckedReason != nil { // null: checked by an older release
		state.Bad.Reason = AuditReason(*head.CheckedReason)
	}
	return state, nil
}
