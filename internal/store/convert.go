package store

import (
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

func toTenant(r dbgen.Tenant) connectors.Tenant {
	return connectors.Tenant{
		ID: r.ID, Slug: r.Slug, Name: r.Name, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
		CallHistory: r.CallHistory, BodyReaders: r.BodyReaders, ApprovalTimeout: time.Duration(r.ApprovalTimeoutS) * time.Second, HistoryDays: historyDays(r.HistoryDays),
		DownAfter: connectors.DownAfter{Failures: int(r.DownAfterFailures), Minutes: int(r.DownAfterMinutes)},
		Defaults:  toDefaults(r), SecondFactorRequired: r.SecondFactorRequired, RefuseInvalidResults: r.RefuseInvalidResults, TokenExchange: r.TokenExchange,
		Sample: r.Sample, FirstStepsDismissed: r.FirstStepsDismissedAt != nil,
		Quota: toQuota(r.CallsPerMinute, r.CallsPerDay), MaxQuota: toQuota(r.MostCallsPerMinute, r.MostCallsPerDay),
	}
}

func toDefaults(r dbgen.Tenant) connectors.Defaults {
	return connectors.Defaults{
		Approval:      r.DefaultApproval,
		SyncInterval:  time.Duration(r.DefaultSyncIntervalS) * time.Second,
		DefinitionAge: time.Duration(r.DefaultDefinitionAgeS) * time.Second,
		ToolChanges:   r.DefaultToolChanges,
		Listen:        r.DefaultListen,
	}
}

// toUTC converts a database time to UTC; nil stays nil.
func toUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// nullableText returns a text for a column; nil for an empty one.
func nullableText(s string) *string {
	if s == "" {
		return nil
	}
	return new(cleanText(s))
}

func textOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// toHash converts a stored hash, of a length that the database checks; nil: none.
func toHash(b []byte) *connectors.Hash {
	if b == nil {
		return nil
	}
	var h connectors.Hash
	copy(h[:], b)
	return &h
}

// refParts parses a reference as an id or a slug; ok is false if it can be neither.
func refParts(ref connectors.Ref) (id *uuid.UUID, slug *string, ok bool) {
	if u, isID := ref.UUID(); isID {
		return &u, nil, true
	}
	if s := string(ref); connectors.ValidSlug(s) {
		return nil, &s, true
	}
	return nil, nil, false
}

func toSeconds(d time.Duration) int32      { return int32(d / time.Second) }
func toMilliseconds(d time.Duration) int32 { return int32(d / time.Millisecond) }
