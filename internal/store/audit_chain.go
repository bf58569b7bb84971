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

// AuditCheck is what a check of a tenant's audit chain found.
type AuditCheck struct {
	Events int64      // that the chain has
	Head   []byte     // the hash that covers all of them, 32 bytes; nil: there are none
	Bad    *AuditFlaw // nil: every entry is as it was recorded
	Cut    int64      // of them, those at the beginning that were cut off because they were old, which is signed
}

// AuditFlaw is the first place where the log is not as it was recorded.
type AuditFlaw struct {
	N       int64      // counted from 1
	EventID *uuid.UUID // of the entry that is, or was, there; nil: the place has none
	Reason  AuditReason
	Last    *uuid.UUID // of the last entry before it, which is as it was recorded; nil: there is none
}

// AuditReason is what is wrong at a place of the audit chain: a sentence for people.
type AuditReason string

// What may be wrong with a chain.
const (
	AuditChanged   AuditReason = "The entry is not what was recorded, or one before it is not."
	AuditEntryGone AuditReason = "The entry is gone."
	AuditLinkGone  AuditReason = "The link is gone."
	AuditRestGone  AuditReason = "The links from here to the end of the chain are gone."
	AuditEndMoved  AuditReason = "The chain does not end with the hash that is kept as its end."
	AuditBeside    AuditReason = "There are entries that the chain does not name."
	AuditCutOff    AuditReason = "The entries before this were cut off, and nothing that Patchbay has signed says so."
)

// auditPage is how many links are read at once: some megabytes, with their entries.
const auditPage = 2000

// CheckAudit computes the tenant's audit chain anew, from its first entry to the one that was the last when it began, and keeps what came of
// it. It takes some microseconds an entry.
func (t *Tenant) CheckAudit(ctx context.Context) (AuditCheck, error) {
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

// computeAudit computes the chain. Where its beginning is cut off meanwhile, what was missing for that is looked for once more.
func (t *Tenant) computeAudit(ctx context.Context, head dbgen.AuditHeadRow) (auditChain, error) {
	for {
		cut, is, err := t.lastCut(ctx)
		if err != nil {
			return auditChain{}, err
		}
		c := auditChain{tenant: t.id, before: make([]byte, sha256.Size)}
		if !is || cut.Entries > 0 && !c.begin(cut) {
			c.fail(1, nil, AuditCutOff)
		}
		if err := t.followAudit(ctx, &c, head.Events); err != nil {
			return c, err
		}
		if err := t.endAudit(ctx, &c, head); err != nil {
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

// followAudit goes along the chain up to the link until, or to the first flaw.
func (t *Tenant) followAudit(ctx context.Context, c *auditChain, until int64) error {
	for c.flaw == nil && c.n < until {
		links, err := t.q.AuditLinks(ctx, dbgen.AuditLinksParams{TenantID: t.id, After: c.n, Until: until, MaxRows: auditPage})
		if err != nil {
			return err
		}
		if len(links) == 0 {
			c.fail(c.n+1, nil, AuditRestGone)
		}
		for i := range links {
			c.add(&links[i])
		}
	}
	return nil
}

// endAudit compares the end of the chain with where it says that it ends, and looks for entries beside it.
func (t *Tenant) endAudit(ctx context.Context, c *auditChain, head dbgen.AuditHeadRow) error {
	if c.flaw == nil && head.Events > 0 && !bytes.Equal(c.before, head.Hash) {
		c.fail(c.n, nil, AuditEndMoved)
	}
	if c.flaw != nil {
		return nil
	}
	beside, err := t.q.CountUnlinkedEvents(ctx, t.id)
	if err == nil && beside > 0 {
		c.fail(c.n+1, nil, AuditBeside)
	}
	return err
}

// auditChain is a chain that is being computed.
type auditChain struct {
	tenant connectors.TenantID
	n      int64  // the links that were found good, and those that were cut off
	cut    int64  // the latter
	before []byte // the hash of the last of them
	last   *uuid.UUID
	flaw   *AuditFlaw
}

func (c *auditChain) fail(n int64, event *uuid.UUID, reason AuditReason) {
	if c.flaw == nil {
		c.flaw = &AuditFlaw{N: n, EventID: event, Reason: reason, Last: c.last}
	}
}

func (c *auditChain) add(l *dbgen.AuditLinksRow) {
	switch {
	case c.flaw != nil:
	case l.N != c.n+1:
		c.fail(c.n+1, nil, AuditLinkGone)
	case !l.Present:
		c.fail(l.N, &l.EventID, AuditEntryGone)
	default:
		sum := auditHash(c.tenant, c.before, l)
		if !bytes.Equal(sum, l.Hash) {
			c.fail(l.N, &l.EventID, AuditChanged)
			return
		}
		c.n, c.before, c.last = l.N, sum, &l.EventID
	}
}

// auditHash is audit_hash of db/migrations/00030_audit_chain.sql, computed outside the database.
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

// appendAuditField appends a column's length in bytes, 32 bits, and the column; null has the length -1.
func appendAuditField(b []byte, column *string) []byte {
	if column == nil {
		return binary.BigEndian.AppendUint32(b, ^uint32(0))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(*column))) //nolint:gosec // a column has less than a gigabyte
	return append(b, *column...)
}

// AuditState is what the last check of the tenant's audit chain found.
type AuditState struct {
	Events    int64      // recorded until now
	CheckedAt *time.Time // nil: never
	Good      int64      // entries that it held good
	Bad       *AuditFlaw // nil: every entry was as it was recorded
}

// AuditState reads it.
func (t *Tenant) AuditState(ctx context.Context) (AuditState, error) {
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
	if head.CheckedBad != nil && head.CheckedReason != nil { // null: by an older program
		state.Bad.Reason = AuditReason(*head.CheckedReason)
	}
	return state, nil
}
