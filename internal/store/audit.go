package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/store/dbgen"
)

// AuditFilter selects audit entries. The zero value selects all.
type AuditFilter struct {
	Actor  string // part of the actor's name
	Action string // "connector.create", or "connector" for all actions on connectors
	Target string // part of the target
	Since  *time.Time
	Until  *time.Time // exclusive
	Entry  *uuid.UUID // only this entry
	Page
}

// RecordedEvent is a stored audit entry.
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
	Hash      []byte // of the chain up to this entry, 32 bytes
}

// clockSkew bounds the difference between the database's clock and the processes' clocks, which make ids.
const clockSkew = time.Hour

// List lists audit entries, newest first.
func (t Audit) List(ctx context.Context, f AuditFilter) (List[RecordedEvent], error) {
	before, err := f.afterID("audit events")
	if err != nil {
		return List[RecordedEvent]{}, err
	}
	p := dbgen.AuditEventsParams{
		TenantID: t.id, BeforeID: before, Since: f.Since, Until: f.Until, Actor: containsPattern(f.Actor), Target: containsPattern(f.Target),
		Action: cleanText(f.Action), Entry: f.Entry, MaxRows: f.rowLimit(),
	}
	if f.Since != nil {
		p.FromID = new(minUUIDv7At(f.Since.Add(-clockSkew)))
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
	return newList(f.Page, rows, item, "audit events", func(r dbgen.AuditEventsRow) []string { return []string{r.ID.String()} }), nil
}
