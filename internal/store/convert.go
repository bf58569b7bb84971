package store

import (
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

func tenantOf(r dbgen.Tenant) connectors.Tenant {
	return connectors.Tenant{
		ID: r.ID, Slug: r.Slug, Name: r.Name, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
		CallHistory: r.CallHistory, BodyReaders: r.BodyReaders, ApprovalTimeout: time.Duration(r.ApprovalTimeoutS) * time.Second, HistoryDays: historyDays(r.HistoryDays),
		Defaults: defaultsOf(r), SecondFactorRequired: r.SecondFactorRequired,
		Quota: quotaOf(r.CallsPerMinute, r.CallsPerDay), Most: quotaOf(r.MostCallsPerMinute, r.MostCallsPerDay),
	}
}

func defaultsOf(r dbgen.Tenant) connectors.Defaults {
	return connectors.Defaults{
		Approval:      r.DefaultApproval,
		SyncInterval:  time.Duration(r.DefaultSyncIntervalS) * time.Second,
		DefinitionAge: time.Duration(r.DefaultDefinitionAgeS) * time.Second,
		ToolChanges:   r.DefaultToolChanges,
		Listen:        r.DefaultListen,
	}
}

// utc moves a time of the database to UTC; nil stays nil.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// hashOf reads a stored hash; nil: none. The database holds its length.
func hashOf(b []byte) *connectors.Hash {
	if b == nil {
		return nil
	}
	var h connectors.Hash
	copy(h[:], b)
	return &h
}

// refParts is what a reference may be: an id, or a slug. One that can be neither names nothing.
func refParts(ref connectors.Ref) (id *uuid.UUID, slug *string, ok bool) {
	if u, isID := ref.UUID(); isID {
		return &u, nil, true
	}
	if s := string(ref); connectors.ValidSlug(s) {
		return nil, &s, true
	}
	return nil, nil, false
}

func seconds(d time.Duration) int32      { return int32(d / time.Second) }
func milliseconds(d time.Duration) int32 { return int32(d / time.Millisecond) }
