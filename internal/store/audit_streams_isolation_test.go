package store_test

import (
	"context"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// auditStreamOf is a tenant's audit stream, with a lease that a process holds.
type auditStreamOf struct {
	auditStream connectors.AuditStream
	streamLease store.StreamLease
}

func newStream(name string) connectors.AuditStream {
	return connectors.AuditStream{Name: name, Kind: connectors.StreamHTTPS, URL: "https://siem.example.com/in", Format: connectors.StreamNDJSON, Header: "Authorization", Enabled: true}
}

func (o *outsider) fillAuditStreams(t *testing.T) {
	t.Helper()
	ctx, part := t.Context(), o.Door().AuditStreams()
	id, err := part.Create(ctx, newStream("Theirs"), "Bearer theirs")
	if err != nil {
		t.Fatal(err)
	}
	if err := asSystem(ctx, o.Pool, "update audit_streams set calls_n = calls_n - 1", nil); err != nil { // something to send
		t.Fatal(err)
	}
	leases, err := o.St.System().ClaimAuditStreams(ctx, time.Hour, 10)
	if err != nil || len(leases) != 1 || leases[0].Stream != id || leases[0].Tenant != o.Tenant {
		t.Fatalf("%+v, %v", leases, err)
	}
	o.streamLease = leases[0]
	if o.auditStream, err = part.Get(ctx, id); err != nil {
		t.Fatal(err)
	}
}

// auditStreamAttempts are the outsider's at audit streams.
var auditStreamAttempts = map[string]attempt{
	"AuditStreams.Create": func(ctx context.Context, o outsider) (bool, error) {
		id, err := o.door.AuditStreams().Create(ctx, newStream("Mine"), "")
		if err != nil {
			return true, err
		}
		return id == o.auditStream.ID, o.door.AuditStreams().Delete(ctx, id)
	},
	"AuditStreams.List": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.AuditStreams().List(ctx)
		return len(list) > 0, err
	},
	"AuditStreams.CountLocked": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.AuditStreams().CountLocked(ctx)
		return n > 0, err
	},
	"AuditStreams.Get": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.AuditStreams().Get(ctx, o.auditStream.ID))
	},
	"AuditStreams.Update": func(ctx context.Context, o outsider) (bool, error) {
		mine := o.auditStream
		mine.URL = "https://mine.example.com/"
		return true, o.door.AuditStreams().Update(ctx, mine, new(secret.Text("mine")), nil)
	},
	"AuditStreams.Delete": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.AuditStreams().Delete(ctx, o.auditStream.ID)
	},
	"AuditStreams.Pause": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.AuditStreams().Pause(ctx, o.auditStream.ID, connectors.StreamGone)
	},
	"AuditStreams.Advance": func(ctx context.Context, o outsider) (bool, error) {
		to := o.auditStream.Cursor
		to.AuditN++
		return o.door.AuditStreams().Advance(ctx, o.streamLease, o.auditStream.Cursor, to, "")
	},
	"AuditStreams.Release": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.AuditStreams().Release(ctx, o.streamLease); err != nil {
			return true, err
		}
		_, _, err := o.St.Vault(o.Tenant).RenewStreamLease(ctx, o.streamLease, time.Hour)
		return fault.Is(err, fault.NotFound), nil
	},
	"AuditStreams.Fail": func(ctx context.Context, o outsider) (bool, error) {
		_, _, err := o.door.AuditStreams().Fail(ctx, o.streamLease, store.StreamFailure{Sentence: "mine"})
		return true, err
	},
	"AuditStreams.Pending": func(ctx context.Context, o outsider) (bool, error) {
		records, err := o.door.AuditStreams().Pending(ctx, connectors.AuditCursor{})
		for _, r := range records {
			if r.Call != nil || r.Event != nil && r.Event.Target == o.connector.Slug && r.Event.ActorType != "system" {
				return true, err
			}
		}
		return false, err
	},
}

// auditStreamVaultAttempts are the outsider's at their secrets.
var auditStreamVaultAttempts = map[string]attempt{
	"AuditStreamSecret": func(ctx context.Context, o outsider) (bool, error) {
		_, value, err := o.vault.AuditStreamSecret(ctx, o.auditStream.ID)
		return !value.Empty(), err
	},
	"RenewStreamLease": func(ctx context.Context, o outsider) (bool, error) {
		_, value, err := o.vault.RenewStreamLease(ctx, o.streamLease, time.Hour)
		return !value.Empty(), err
	},
}

// ownAuditStreams are the methods that make or show the outsider's own.
var ownAuditStreams = map[string]bool{
	"AuditStreams.Create": true, "AuditStreams.List": true, "AuditStreams.CountLocked": true, "AuditStreams.Release": true, "AuditStreams.Pending": true,
	"AuditStreams.Pause": true, "AuditStreams.Advance": true,
}
