package store

import (
	"bytes"
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// maxWorkloadTokens bounds the access tokens that a workload keeps. Jobs of one workload run at the same time.
const maxWorkloadTokens = 500

// Create stores a workload of an agent, under a new id. It ends the agent's managed accounts.
func (t Workloads) Create(ctx context.Context, w connectors.Workload) (connectors.Workload, error) {
	row, err := t.q.CreateWorkload(ctx, dbgen.CreateWorkloadParams{
		TenantID: t.id, ID: connectors.AgentWorkloadID{UUID: newID()}, AgentID: w.AgentID, Name: cleanText(w.Name), Issuer: w.Issuer, Subject: w.Subject, Keys: w.Keys,
	})
	if err != nil {
		return toWorkload(row), err
	}
	return toWorkload(row), t.endManagedAccounts(ctx, w.AgentID, nil)
}

// List lists an agent's workloads, newest first; at most [connectors.MaxWorkloads].
func (t Workloads) List(ctx context.Context, agent connectors.AgentID) ([]connectors.Workload, error) {
	rows, err := t.q.Workloads(ctx, t.id, agent)
	all := make([]connectors.Workload, len(rows))
	for i, r := range rows {
		all[i] = toWorkload(r)
	}
	return all, err
}

// Count is how many workloads an agent has.
func (t Workloads) Count(ctx context.Context, agent connectors.AgentID) (int, error) {
	n, err := t.q.CountWorkloads(ctx, t.id, agent)
	return int(n), err
}

// Delete deletes a workload with its tokens, and returns it.
func (t Workloads) Delete(ctx context.Context, agent connectors.AgentID, id connectors.AgentWorkloadID) (gone connectors.Workload, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.dropWorkloadTokens(ctx, id, 0); err != nil {
			return err
		}
		row, err := tx.q.DeleteWorkload(ctx, tx.id, agent, id)
		gone = toWorkload(row)
		return rowError(err, "workload")
	})
	return gone, err
}

// dropWorkloadTokens deletes a workload's oldest access tokens, and keeps the newest.
func (t *tenant) dropWorkloadTokens(ctx context.Context, id connectors.AgentWorkloadID, keep int32) error {
	deleted, err := t.q.DeleteOldWorkloadTokens(ctx, t.id, id.UUID, keep)
	for _, token := range deleted {
		err = t.notifyChange(err, "token", token)
	}
	return err
}

// LockedWorkload is a workload with its row locked.
type LockedWorkload struct {
	ID        connectors.AgentWorkloadID
	AgentSlug string
	Now       time.Time // of the database
}

// Lock locks a workload's row until the transaction ends.
func (t Workloads) Lock(ctx context.Context, id connectors.AgentWorkloadID) (LockedWorkload, error) {
	row, err := t.q.LockWorkload(ctx, t.id, id)
	return LockedWorkload{ID: id, AgentSlug: row.Slug, Now: row.Now}, rowError(err, "workload")
}

// AssertionUse is the exchange of a JWT for an access token.
type AssertionUse struct {
	Digest    []byte // names the JWT in its tenant
	Hash      []byte // SHA-256 of its text
	Workload  connectors.AgentWorkloadID
	Token     connectors.AgentTokenID
	At        time.Time
	ExpiresAt time.Time // of the JWT
}

// IsRepeat reports whether a later use sends the same text as the same workload, within a time.
func (u AssertionUse) IsRepeat(later AssertionUse, within time.Duration) bool {
	return bytes.Equal(u.Hash, later.Hash) && u.Workload == later.Workload && later.At.Sub(u.At) <= within
}

// UseAssertion records the use of a JWT. It returns the earlier use if there is one, which stays as it is, and waits
// for a concurrent one.
func (t Workloads) UseAssertion(ctx context.Context, u AssertionUse) (earlier *AssertionUse, err error) {
	n, err := t.q.UseAssertion(ctx, dbgen.UseAssertionParams{
		TenantID: t.id, Digest: u.Digest, AssertionHash: u.Hash, WorkloadID: u.Workload, TokenID: u.Token, UsedAt: u.At, ExpiresAt: u.ExpiresAt,
	})
	if err != nil || n > 0 {
		return nil, err
	}
	r, err := t.q.UsedAssertion(ctx, t.id, u.Digest)
	if err != nil {
		return nil, rowError(err, "assertion")
	}
	return &AssertionUse{Digest: r.Digest, Hash: r.AssertionHash, Workload: r.WorkloadID, Token: r.TokenID, At: r.UsedAt, ExpiresAt: r.ExpiresAt}, nil
}

// ReplaceAssertionToken ends the access token of an earlier use, for a JWT stands for one token, and records the next.
func (t Workloads) ReplaceAssertionToken(ctx context.Context, earlier AssertionUse, next connectors.AgentTokenID) error {
	if err := t.DropToken(ctx, earlier.Workload, earlier.Token); err != nil {
		return err
	}
	n, err := t.q.ReplaceAssertionToken(ctx, next, t.id, earlier.Digest)
	return affectedError(n, err, "assertion")
}

// RefuseAssertion records that a used JWT was refused. It reports whether that is the first time.
func (t Workloads) RefuseAssertion(ctx context.Context, earlier AssertionUse) (first bool, err error) {
	n, err := t.q.RefuseAssertion(ctx, t.id, earlier.Digest)
	return n > 0, err
}

// UseProof records the use of a DPoP proof until it expires, and reports whether that is the first. It waits for a concurrent one.
func (t Workloads) UseProof(ctx context.Context, digest []byte, expires time.Time) (first bool, err error) {
	n, err := t.q.UseProof(ctx, t.id, digest, expires)
	return n > 0, err
}

// BindClient binds a client to a key. It fails with NotFound if it is bound to another one.
func (t Workloads) BindClient(ctx context.Context, id connectors.AgentClientID, key string) error {
	n, err := t.q.BindAgentClient(ctx, key, t.id, id)
	return affectedError(n, err, "client")
}

// CreateToken stores an access token of a workload for a resource, and deletes its oldest above the bound.
func (t Workloads) CreateToken(ctx context.Context, id connectors.AgentWorkloadID, n ClientToken, resource string) error {
	made, err := t.q.CreateWorkloadToken(ctx, dbgen.CreateWorkloadTokenParams{
		TenantID: t.id, ID: n.ID.UUID, Prefix: n.Prefix, SecretMac: n.SecretMAC, ExpiresAt: n.ExpiresAt, AgentWorkloadID: id.UUID, Resource: resource,
		KeyThumbprint: nullableText(n.Key),
	})
	if err := affectedError(made, err, "workload"); err != nil {
		return err
	}
	if err := t.q.TouchWorkload(ctx, t.id, id); err != nil {
		return err
	}
	return t.dropWorkloadTokens(ctx, id, maxWorkloadTokens)
}

// DropToken deletes an access token of a workload, if there is one.
func (t Workloads) DropToken(ctx context.Context, id connectors.AgentWorkloadID, token connectors.AgentTokenID) error {
	n, err := t.q.DeleteWorkloadToken(ctx, t.id, token, id.UUID)
	if err != nil || n == 0 {
		return err
	}
	return t.notifyChange(nil, "token", token)
}

// Workload finds a workload of any tenant by its id.
func (s SystemSessions) Workload(ctx context.Context, id connectors.AgentWorkloadID) (connectors.TenantID, connectors.Workload, error) {
	row, err := s.q.Workload(ctx, id)
	return row.TenantID, toWorkload(row), rowError(err, "workload")
}

func toWorkload(r dbgen.AgentWorkload) connectors.Workload {
	return connectors.Workload{
		ID: r.ID, AgentID: r.AgentID, Name: r.Name, Issuer: r.Issuer, Subject: r.Subject, Keys: r.Keys, CreatedAt: r.CreatedAt.UTC(), LastUsedAt: toUTC(r.LastUsedAt),
	}
}
