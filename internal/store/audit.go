package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/store/dbgen"
)

// AuditFilter says which entries of the audit log are looked for. Its zero value finds all.
type AuditFilter struct {
	Actor  string // a part of the actor's name
	Action string // "connector.create", or "connector" for all that is done to connectors
	Target string // a part of the target
	Since  *time.Time
	Until  *time.Time // not at or after it
	Entry  *uuid.UUID // this one alone
	Page
}

// RecordedEvent is an entry of the audit log, as it stands there.
type RecordedEvent struct {
	ID        uuid.UUID
	At        time.Time
	ActorType string
	ActorID   *uuid.UUID
	ActorName string
	Action    string
	Target    string
	Detail    json.RawMessage
	RequestID string
	IP        string
	Hash      []byte // of the tenant's chain up to this entry, 32 bytes
}

// clockSkew is how far the clocks of processes, which make ids, may be from the database's.
const clockSkew = time.Hour

// AuditEvents lists what happened, the newest first.
func (t *Tenant) AuditEvents(ctx context.Context, f AuditFilter) (List[RecordedEvent], error) {
	before, err := f.afterID("audit events")
	if err != nil {
		return List[RecordedEvent]{}, err
	}
	p := dbgen.AuditEventsParams{
		TenantID: t.id, BeforeID: before, Since: f.Since, Until: f.Until, Actor: pattern(f.Actor), Target: pattern(f.Target),
		Action: clean(f.Action), Entry: f.Entry, MaxRows: f.rows(),
	}
	if f.Since != nil {
		p.FromID = new(firstIDAt(f.Since.Add(-clockSkew)))
	}
	rows, err := t.q.AuditEvents(ctx, p)
	if err != nil {
		return List[RecordedEvent]{}, err
	}
	item := func(r dbgen.AuditEventsRow) RecordedEvent {
		return RecordedEvent{
			ID: r.ID, At: r.At.UTC(), ActorType: r.ActorType, ActorID: r.ActorID, ActorName: r.ActorName, Action: r.Action, Target: r.Target,
			Detail: r.Detail, RequestID: r.RequestID, IP: r.Ip, Hash: r.Hash,
		}
	}
	return listOf(f.Page, rows, item, "audit events", func(r dbgen.AuditEventsRow) []string { return []string{r.ID.String()} }), nil
}
