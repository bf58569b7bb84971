package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Listenings tells of connectors how the streams are on which their servers tell of changes. Those whose servers do not are left out.
func (t *Tenant) Listenings(ctx context.Context, ids ...connectors.ConnectorID) (map[connectors.ConnectorID]connectors.Listening, error) {
	rows, err := t.q.Listenings(ctx, t.id, plainIDs(ids))
	if err != nil {
		return nil, err
	}
	all := make(map[connectors.ConnectorID]connectors.Listening, len(rows))
	for _, r := range rows {
		l := connectors.Listening{
			State: r.State, Since: r.Since.UTC(), Reason: r.Reason, LastNotifiedAt: utc(r.LastNotifiedAt), Notified: int(r.Notified),
		}
		if l.State == connectors.ListenListening && r.InstanceID == nil {
			l.State = connectors.ListenWaiting // its process has died just now
		}
		all[r.ConnectorID] = l
	}
	return all, nil
}

// ListenAgain forgets why a connector's stream is off, or waits. One that is open stays.
func (t *Tenant) ListenAgain(ctx context.Context, id connectors.ConnectorID) error {
	return t.q.ListenAgain(ctx, t.id, id)
}

// Stream names a stream that a process holds.
type Stream struct {
	Connector connectors.ConnectorID
	Instance  connectors.InstanceID
}

// OpenStream notes that a stream is open, and with which credential; nil: with none. It tells whether the process still holds it.
func (t *Tenant) OpenStream(ctx context.Context, s Stream, credential *connectors.CredentialID, revision int) (held bool, err error) {
	n, err := t.q.KeepListening(ctx, dbgen.KeepListeningParams{
		TenantID: t.id, ConnectorID: s.Connector, InstanceID: &s.Instance, CredentialID: credential, CredentialVersion: int32(revision),
	})
	return n > 0, err
}

// StreamEnd is how a stream ended.
type StreamEnd struct {
	State    connectors.ListenState // ListenWaiting or ListenIsOff
	Reason   connectors.ListenReason
	Again    *time.Duration // from now until it may be opened again; nil: not before a person says so
	Failures int            // in a row, this one included
}

// CloseStream frees a stream, where the process still holds it.
func (t *Tenant) CloseStream(ctx context.Context, s Stream, e StreamEnd) error {
	p := dbgen.StopListeningParams{
		TenantID: t.id, ConnectorID: s.Connector, InstanceID: &s.Instance, State: e.State, Reason: e.Reason, Failures: int32(e.Failures),
	}
	if e.Again != nil {
		seconds := e.Again.Seconds()
		p.DueS = &seconds
	}
	return t.q.StopListening(ctx, p)
}

// Heard is what a server said on a stream that its lists had changed.
type Heard struct {
	Times int       // how often; 0: nothing
	At    time.Time // the last time
	Vain  int       // how often in a row they had not
	Asked bool      // a sync was asked for, which finds what nobody heard, too
}

// HearStream notes what was said on a stream that the process holds.
func (t *Tenant) HearStream(ctx context.Context, s Stream, h Heard) error {
	return t.q.NoteChanged(ctx, dbgen.NoteChangedParams{
		TenantID: t.id, ConnectorID: s.Connector, InstanceID: &s.Instance, Notified: int64(h.Times), HeardAt: &h.At, Vain: int32(h.Vain), Asked: h.Asked,
	})
}

// PassOn has every process hear that a connector's server said that a list has changed: NoticeTools, NoticePrompts or NoticeResources.
func (t *Tenant) PassOn(ctx context.Context, id connectors.ConnectorID, kind string) error {
	n, err := t.q.PassOn(ctx, kind, t.id, id)
	if err == nil && n == 0 {
		err = pgx.ErrNoRows
	}
	return t.says(found(err, "connector"), kind, id)
}

// ListsHash is one of all that is known of a server's lists: it moves with each change.
func (t *Tenant) ListsHash(ctx context.Context, id connectors.ConnectorID) (string, error) {
	hash, err := t.q.ListsHash(ctx, t.id, id)
	return string(hash), found(err, "connector")
}

func plainIDs(ids []connectors.ConnectorID) []uuid.UUID {
	plain := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		plain[i] = id.UUID
	}
	return plain
}
