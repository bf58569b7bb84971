package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Listenings returns the state of connectors' listener streams. Connectors without notifications are left out.
func (t Syncs) Listenings(ctx context.Context, ids ...connectors.ConnectorID) (map[connectors.ConnectorID]connectors.Listening, error) {
	rows, err := t.q.Listenings(ctx, t.id, connectorUUIDs(ids))
	if err != nil {
		return nil, err
	}
	all := make(map[connectors.ConnectorID]connectors.Listening, len(rows))
	for _, r := range rows {
		l := connectors.Listening{
			State: r.State, Since: r.Since.UTC(), Reason: r.Reason, LastNotifiedAt: toUTC(r.LastNotifiedAt), Notified: int(r.Notified),
		}
		if l.State == connectors.ListenListening && r.InstanceID == nil {
			l.State = connectors.ListenWaiting // its process has just died
		}
		all[r.ConnectorID] = l
	}
	return all, nil
}

// ListenAgain clears why a connector's stream is off or waits. An open stream stays open.
func (t Syncs) ListenAgain(ctx context.Context, id connectors.ConnectorID) error {
	return t.q.RestartListener(ctx, t.id, id)
}

// Stream identifies a stream and the process that holds it.
type Stream struct {
	Connector connectors.ConnectorID
	Instance  connectors.InstanceID
}

// OpenStream stores that a stream is open, and its credential; nil: none. It reports whether the process still
// holds the stream.
func (t Syncs) OpenStream(ctx context.Context, s Stream, credential *connectors.CredentialID, revision int) (isHeld bool, err error) {
	n, err := t.q.MarkListening(ctx, dbgen.MarkListeningParams{
		TenantID: t.id, ConnectorID: s.Connector, InstanceID: &s.Instance, CredentialID: credential, CredentialVersion: int32(revision),
	})
	return n > 0, err
}

// StreamEnd describes how a stream ended.
type StreamEnd struct {
	State      connectors.ListenState // ListenWaiting or ListenStateOff
	Reason     connectors.ListenReason
	RetryAfter *time.Duration // delay until it may be opened again; nil: not before a person resumes it
	Failures   int            // consecutive, including this one
}

// CloseStream releases a stream that the process still holds.
func (t Syncs) CloseStream(ctx context.Context, s Stream, e StreamEnd) error {
	p := dbgen.ReleaseListenerParams{
		TenantID: t.id, ConnectorID: s.Connector, InstanceID: &s.Instance, State: e.State, Reason: e.Reason, Failures: int32(e.Failures),
	}
	if e.RetryAfter != nil {
		seconds := e.RetryAfter.Seconds()
		p.DueS = &seconds
	}
	return t.q.ReleaseListener(ctx, p)
}

// ListChanges counts a stream's list_changed notifications.
type ListChanges struct {
	Times      int       // notifications; 0: none
	At         time.Time // time of the last one
	Unchanged  int       // consecutive notifications after which the list was unchanged
	SyncQueued bool      // a sync was queued, which also covers missed notifications
}

// RecordListChanges stores the notifications of a stream that the process holds.
func (t Syncs) RecordListChanges(ctx context.Context, s Stream, h ListChanges) error {
	return t.q.RecordListChanged(ctx, dbgen.RecordListChangedParams{
		TenantID: t.id, ConnectorID: s.Connector, InstanceID: &s.Instance, Notified: int64(h.Times), HeardAt: &h.At, Vain: int32(h.Unchanged), Asked: h.SyncQueued,
	})
}

// NotifyListChanged notifies every process of a list_changed notification: ChangeTools, NoticePrompts or
// NoticeResources.
func (t Syncs) NotifyListChanged(ctx context.Context, id connectors.ConnectorID, kind string) error {
	n, err := t.q.NotifyListChanged(ctx, kind, t.id, id)
	if err == nil && n == 0 {
		err = pgx.ErrNoRows
	}
	return t.notifyChange(rowError(err, "connector"), kind, id)
}

// ListsHash returns a hash over all known lists of a server. It changes with each list.
func (t Syncs) ListsHash(ctx context.Context, id connectors.ConnectorID) (string, error) {
	hash, err := t.q.ListsHash(ctx, t.id, id)
	return string(hash), rowError(err, "connector")
}

func connectorUUIDs(ids []connectors.ConnectorID) []uuid.UUID {
	plain := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		plain[i] = id.UUID
	}
	return plain
}
