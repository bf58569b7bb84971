package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// Create stores an audit stream with the value of its header, under a new id. It starts after what is recorded now.
func (t AuditStreams) Create(ctx context.Context, s connectors.AuditStream, value secret.Text) (connectors.AuditStreamID, error) {
	p := dbgen.CreateAuditStreamParams{
		TenantID: t.id, ID: connectors.AuditStreamID{UUID: newID()}, Name: cleanText(s.Name), Kind: s.Kind, Url: cleanText(s.URL),
		Format: s.Format, Header: cleanText(s.Header), Ca: cleanText(s.CA), Origin: s.Origin(),
	}
	return p.ID, t.sealStreamSecret(ctx, value, p.ID, p.Origin, func(sealed []byte) error {
		p.Sealed = sealed
		_, err := t.q.CreateAuditStream(ctx, p)
		return err
	})
}

// sealStreamSecret seals the value of a header, if there is one.
func (t *tenant) sealStreamSecret(ctx context.Context, value secret.Text, id connectors.AuditStreamID, origin string, write func(sealed []byte) error) error {
	if value.Empty() {
		return write(nil)
	}
	return t.sealAndRetry(ctx, value, streamSecretAD(t.id, id, origin), write)
}

// List lists the tenant's audit streams, the oldest first. They are few.
func (t AuditStreams) List(ctx context.Context) ([]connectors.AuditStream, error) {
	rows, err := t.q.AuditStreams(ctx, t.id, nil)
	list := make([]connectors.AuditStream, len(rows))
	for i, r := range rows {
		list[i] = withEnds(toAuditStream(r.AuditStream), r)
	}
	return list, err
}

// CountLocked counts the tenant's audit streams, and lets no other transaction add one before this one ends.
func (t AuditStreams) CountLocked(ctx context.Context) (int, error) {
	if err := t.q.LockAuditStreams(ctx, t.id.UUID); err != nil {
		return 0, err
	}
	n, err := t.q.CountAuditStreams(ctx, t.id)
	return int(n), err
}

// Get reads one audit stream.
func (t AuditStreams) Get(ctx context.Context, id connectors.AuditStreamID) (connectors.AuditStream, error) {
	rows, err := t.q.AuditStreams(ctx, t.id, &id.UUID)
	if err == nil && len(rows) == 0 {
		err = fault.Errorf(fault.NotFound, "No such audit stream.")
	}
	if err != nil {
		return connectors.AuditStream{}, err
	}
	return withEnds(toAuditStream(rows[0].AuditStream), rows[0]), nil
}

// Update stores an audit stream's settings, the value of its header unless that is nil, and whether it is on unless enabled
// is nil. The position stays. A process that sends to another receiver loses its lease.
func (t AuditStreams) Update(ctx context.Context, s connectors.AuditStream, value *secret.Text, enabled *bool) error {
	p := dbgen.UpdateAuditStreamParams{
		TenantID: t.id, ID: s.ID, Name: cleanText(s.Name), Url: cleanText(s.URL), Format: s.Format, Header: cleanText(s.Header), Ca: cleanText(s.CA),
		Origin: s.Origin(), SetSecret: value != nil, Enabled: enabled,
	}
	write := func(sealed []byte) error {
		p.Sealed = sealed
		n, err := t.q.UpdateAuditStream(ctx, p)
		return affectedError(n, err, "audit stream")
	}
	if value == nil {
		return write(nil)
	}
	return t.sealStreamSecret(ctx, *value, s.ID, p.Origin, write)
}

// Delete deletes an audit stream.
func (t AuditStreams) Delete(ctx context.Context, id connectors.AuditStreamID) error {
	n, err := t.q.DeleteAuditStream(ctx, t.id, id)
	return affectedError(n, err, "audit stream")
}

// Pause turns an audit stream off because of its receiver, and reports whether it was on.
func (t AuditStreams) Pause(ctx context.Context, id connectors.AuditStreamID, why connectors.StreamEnd) (bool, error) {
	n, err := t.q.PauseAuditStream(ctx, why, t.id, id)
	return n > 0, err
}

// StreamLease lets one process send an audit stream's records. A later claim of the stream ends it, and so does a
// change of the receiver.
type StreamLease struct {
	Tenant connectors.TenantID
	Stream connectors.AuditStreamID
	token  uuid.UUID
}

// ClaimAuditStreams leases streams that have something to send, at most max.
func (s *System) ClaimAuditStreams(ctx context.Context, lease time.Duration, max int) ([]StreamLease, error) {
	rows, err := s.q.ClaimAuditStreams(ctx, lease.Seconds(), int32(max)) //nolint:gosec // some tens
	leases := make([]StreamLease, 0, len(rows))
	for _, r := range rows {
		if r.Lease != nil {
			leases = append(leases, StreamLease{Tenant: r.TenantID, Stream: r.ID, token: *r.Lease})
		}
	}
	return leases, err
}

// RenewStreamLease renews a lease and returns the stream, with its header's value. NotFound: the lease has ended.
func (v *Vault) RenewStreamLease(ctx context.Context, l StreamLease, lease time.Duration) (connectors.AuditStream, secret.Text, error) {
	row, err := v.q.LeasedAuditStream(ctx, dbgen.LeasedAuditStreamParams{TenantID: v.id, ID: l.Stream, Lease: l.token, Seconds: lease.Seconds()})
	if err != nil {
		return connectors.AuditStream{}, "", rowError(err, "audit stream")
	}
	value, err := v.openStreamSecret(row)
	return toAuditStream(row), value, err
}

// AuditStreamSecret reads an audit stream with its header's value.
func (v *Vault) AuditStreamSecret(ctx context.Context, id connectors.AuditStreamID) (connectors.AuditStream, secret.Text, error) {
	rows, err := v.q.AuditStreams(ctx, v.id, &id.UUID)
	if err == nil && len(rows) == 0 {
		err = fault.Errorf(fault.NotFound, "No such audit stream.")
	}
	if err != nil {
		return connectors.AuditStream{}, "", err
	}
	value, err := v.openStreamSecret(rows[0].AuditStream)
	return toAuditStream(rows[0].AuditStream), value, err
}

func (v *Vault) openStreamSecret(row dbgen.AuditStream) (secret.Text, error) {
	if row.Sealed == nil {
		return "", nil
	}
	value, err := v.keyring.Open(row.Sealed, streamSecretAD(v.id, row.ID, toAuditStream(row).Origin())) // of the URL that it is sent to
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "The stream's stored header value can't be decrypted. Enter it again.")
	}
	return value, nil
}

// Advance moves the cursor under a lease, and reports whether the lease held and the cursor was at from. gap describes
// records that were removed before their delivery; empty: none.
func (t AuditStreams) Advance(ctx context.Context, l StreamLease, from, to connectors.AuditCursor, gap string) (bool, error) {
	n, err := t.q.AdvanceAuditStream(ctx, dbgen.AdvanceAuditStreamParams{
		TenantID: t.id, ID: l.Stream, Lease: l.token, Gap: gap, FromAuditN: from.AuditN, FromCallsN: from.CallsN, FromCallsRecord: from.CallsRecord,
		AuditN: to.AuditN, AuditHash: to.AuditHash, CallsN: to.CallsN, CallsHash: to.CallsHash, CallsRecord: to.CallsRecord,
	})
	return n > 0, err
}

// Release ends a lease.
func (t AuditStreams) Release(ctx context.Context, l StreamLease) error {
	return t.q.ReleaseAuditStream(ctx, t.id, l.Stream, l.token)
}

// StreamFailure is a failed attempt.
type StreamFailure struct {
	Sentence string
	Refused  bool // the receiver refused, and will refuse again
	Wait     time.Duration
}

// Fail stores a failed attempt and ends the lease. refusals counts the refusals in a row. NotFound: the lease has ended.
func (t AuditStreams) Fail(ctx context.Context, l StreamLease, f StreamFailure) (s connectors.AuditStream, refusals int, err error) {
	row, err := t.q.FailAuditStream(ctx, dbgen.FailAuditStreamParams{
		TenantID: t.id, ID: l.Stream, Lease: l.token, Refused: f.Refused, LastError: cleanText(f.Sentence), Seconds: f.Wait.Seconds(),
	})
	return toAuditStream(row), int(row.Refusals), rowError(err, "audit stream")
}

// streamSecretAD binds the value of a header to its stream and receiver.
func streamSecretAD(tenant connectors.TenantID, id connectors.AuditStreamID, origin string) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "audit_streams", Column: "sealed", Row: id.String() + " " + origin}
}

// withEnds adds the last positions of the chains.
func withEnds(s connectors.AuditStream, r dbgen.AuditStreamsRow) connectors.AuditStream {
	s.AuditEnd, s.CallsEnd = r.AuditEnd, r.CallsEnd
	return s
}

func toAuditStream(r dbgen.AuditStream) connectors.AuditStream {
	s := connectors.AuditStream{
		ID: r.ID, Name: r.Name, Kind: r.Kind, URL: r.Url, Format: r.Format, Header: r.Header, CA: r.Ca, HasSecret: r.Sealed != nil, Enabled: r.Enabled,
		DisabledWhy: r.DisabledWhy, Failures: int(r.Failures), FailingSince: toUTC(r.FailingSince), LastError: r.LastError,
		DeliveredAt: toUTC(r.DeliveredAt), Gap: r.Gap, GapAt: toUTC(r.GapAt), CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
		Cursor: connectors.AuditCursor{AuditN: r.AuditN, AuditHash: r.AuditHash, CallsN: r.CallsN, CallsHash: r.CallsHash, CallsRecord: r.CallsRecord},
	}
	if r.Failures > 0 {
		s.NextAt = new(r.NextAt.UTC())
	}
	return s
}
