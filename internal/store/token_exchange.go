package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// SigningKey is an opened key that signs for a tenant.
type SigningKey struct {
	ID        uuid.UUID
	Private   secret.Text
	CreatedAt time.Time
}

// NewSigningKey is a key to store. Its public part is not stored: write access to the table could publish another one.
type NewSigningKey struct {
	ID      uuid.UUID
	Private secret.Text
}

// SigningKeyRotation decides when a tenant gets its next signing key.
type SigningKeyRotation struct {
	DueBefore   time.Time   // it gets one if its newest was made before
	KnownBefore time.Time   // the newest key that was made before is the one that others know; older keys are deleted
	Unreadable  []uuid.UUID // keys that do not count

	MakeKey func() (NewSigningKey, error)
}

// NewSigningKeyID makes the id of a signing key.
func NewSigningKeyID() uuid.UUID { return newID() }

// SigningKeys opens the tenant's signing keys, newest first, and returns the IDs of those that no key opens any more. Another
// failure, such as of the key service, is an error: the keys are still good.
func (v *Vault) SigningKeys(ctx context.Context) (keys []SigningKey, unreadable []uuid.UUID, err error) {
	rows, err := v.q.SigningKeys(ctx, v.id)
	for _, row := range rows {
		plain, err := v.keyring.Open(row.Sealed, signingKeyAD(v.id, row.ID))
		switch {
		case errors.Is(err, secret.ErrUnknownKey), errors.Is(err, secret.ErrAltered):
			unreadable = append(unreadable, row.ID)
		case err != nil:
			return nil, nil, err
		default:
			keys = append(keys, SigningKey{ID: row.ID, Private: plain, CreatedAt: row.CreatedAt.UTC()})
		}
	}
	return keys, unreadable, err
}

// AddDueSigningKey stores a signing key if one is due and a connector uses token exchange, and deletes those that nothing uses any more. It is
// an audited action of the tenant, and these are serialized: two keys that are made at once would displace the published one.
func (t Accounts) AddDueSigningKey(ctx context.Context, r SigningKeyRotation) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.q.LockAuditedActions(ctx, tx.id.UUID); err != nil {
			return err
		}
		if r.Unreadable == nil {
			r.Unreadable = []uuid.UUID{}
		}
		found, err := tx.q.NewestSigningKey(ctx, r.KnownBefore, tx.id, r.Unreadable)
		if err != nil || !found.Needed || !found.Newest.Before(r.DueBefore) {
			return err
		}
		k, err := r.MakeKey()
		if err != nil {
			return err
		}
		err = tx.sealAndRetry(ctx, k.Private, signingKeyAD(tx.id, k.ID), func(sealed []byte) error {
			return tx.q.AddSigningKey(ctx, tx.id, k.ID, sealed)
		})
		if err != nil {
			return err
		}
		if err := tx.recordSigningKeys(ctx, "signing_key.create", k.ID); err != nil {
			return err
		}
		deleted, err := tx.q.DeleteOldSigningKeys(ctx, tx.id, found.Known)
		if err != nil {
			return err
		}
		return tx.recordSigningKeys(ctx, "signing_key.delete", deleted...)
	})
}

// recordSigningKeys appends an audit entry for each key, by the ID that the published key and the assertions name (kid).
func (t *tenant) recordSigningKeys(ctx context.Context, action string, keys ...uuid.UUID) error {
	for _, id := range keys {
		e := Event{ActorType: "system", ActorName: "Patchbay", Action: action, Target: id.String()}
		if err := recordEvent(ctx, t.q, t.id, e); err != nil {
			return err
		}
	}
	return nil
}

// SetTokenExchange sets whether connectors may name members and agents to authorization servers. Without it, the accounts from token
// exchange and the signing keys are deleted. It is not turned on while a process of an older release runs, which does not know it.
func (t Accounts) SetTokenExchange(ctx context.Context, enabled bool) error {
	if enabled {
		switch older, err := t.q.HasInstanceWithoutTokenExchange(ctx); {
		case err != nil:
			return err
		case older:
			return fault.Errorf(fault.Conflict, "A server of an older release still runs, which knows no token exchange. Try again after the upgrade.")
		}
	}
	n, err := t.q.SetTokenExchange(ctx, enabled, t.id)
	if err := t.notifyChange(affectedError(n, err, "tenant"), "tenant", t.id); err != nil || enabled {
		return err
	}
	if err := t.deleteExchangedAccounts(ctx, nil); err != nil {
		return err
	}
	return t.deleteUnusedSigningKeys(ctx)
}

// deleteExchangedAccounts deletes accounts from token exchange; agent nil: of all agents.
func (t *tenant) deleteExchangedAccounts(ctx context.Context, agent *uuid.UUID) error {
	deleted, err := t.q.DeleteExchangedAccounts(ctx, t.id, agent)
	for _, id := range deleted {
		err = t.notifyChange(err, "credential", id)
	}
	return err
}

// expireMembersTokens ends the use of tokens that may say an address of a member, which the tenant's provider confirms no longer.
func (t *tenant) expireMembersTokens(ctx context.Context) error {
	expired, err := t.q.ExpireMembersExchangedTokens(ctx, t.id)
	for _, id := range expired {
		err = t.notifyChange(err, "credential", id)
	}
	return err
}

func (t *tenant) deleteUnusedSigningKeys(ctx context.Context) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.q.LockAuditedActions(ctx, tx.id.UUID); err != nil {
			return err
		}
		deleted, err := tx.q.DeleteUnusedSigningKeys(ctx, tx.id)
		if err != nil {
			return err
		}
		return tx.recordSigningKeys(ctx, "signing_key.delete", deleted...)
	})
}

func signingKeyAD(tenant connectors.TenantID, id uuid.UUID) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "signing_keys", Column: "sealed", Row: id.String()}
}

// ExchangeSubject is the subject of a token exchange.
type ExchangeSubject struct {
	Member *connectors.UserID // nil: the agent itself
	Email  string             // of the member, which the tenant's provider has confirmed, and which nothing else lets in; else empty
}

// ExchangeSubject returns the subject of a token exchange when the agent calls the connector. It fails with NotFound if an
// owner has not turned token exchange on, others' programs may act as a member's agent, or a person has disconnected the account.
func (t Accounts) ExchangeSubject(ctx context.Context, agent connectors.AgentID, connector connectors.ConnectorID) (ExchangeSubject, error) {
	row, err := t.q.ExchangeSubject(ctx, t.id, agent, connector.UUID)
	if err != nil {
		return ExchangeSubject{}, rowError(err, "member")
	}
	var s ExchangeSubject
	if row.UserID != uuid.Nil {
		s.Member = &connectors.UserID{UUID: row.UserID}
	}
	if row.Proven {
		s.Email = row.Address
	}
	return s, nil
}

// ReasonSharedExchange is why an agent that others' programs may act as has no account from token exchange.
const ReasonSharedExchange = "An admin's token, workload or program may act as this member's agent. Delete it, or connect an account."

// NewExchangedAccount is an account with tokens from token exchange.
type NewExchangedAccount struct {
	Connector connectors.Connector // as it was when the account was decided
	AgentID   connectors.AgentID
	Member    *connectors.UserID // that the agent belongs to; nil: none
	Meta      GrantMeta
}

// AddExchangedAccount stores an account without a token, unless the agent has an account at the connector, or the connector has changed.
func (t Accounts) AddExchangedAccount(ctx context.Context, a NewExchangedAccount) error {
	plain, meta, err := encodeTokens(GrantTokens{Meta: a.Meta})
	if err != nil {
		return err
	}
	c, origin := a.Connector, a.Connector.CredentialOrigin()
	p := dbgen.AddExchangedAccountParams{
		TenantID: t.id, ID: newID(), ConnectorID: c.ID.UUID, ConnectorVersion: int32(c.Version), AgentID: a.AgentID, Origin: origin, GrantMeta: meta,
	}
	if a.Member != nil {
		p.MemberID = &a.Member.UUID
	}
	return t.sealAndRetry(ctx, plain, credentialAD(t.id, accountPlace{c.ID, &a.AgentID, connectors.DefaultAccount, origin}), func(sealed []byte) error {
		p.Sealed = sealed
		n, err := t.q.AddExchangedAccount(ctx, p)
		if err != nil || n == 0 {
			return err
		}
		return t.notifyChange(nil, "credential", c.ID)
	})
}

// isExchanged reports whether a stored account's tokens come from token exchange.
func isExchanged(row dbgen.Credential) (bool, error) {
	if len(row.GrantMeta) == 0 {
		return false, nil
	}
	var meta GrantMeta
	err := json.Unmarshal(row.GrantMeta, &meta)
	return meta.Exchange != "", err
}

// ReviveExchangedAccount lets an ended account g request tokens again as a new one would, if it ended because others' programs could act as
// the agent, or 15 minutes after another end; and an account that an older release took for a managed one. It reports whether it did.
func (t Accounts) ReviveExchangedAccount(ctx context.Context, g connectors.Credential, a NewExchangedAccount) (bool, error) {
	_, meta, err := encodeTokens(GrantTokens{Meta: a.Meta})
	if err != nil {
		return false, err
	}
	p := dbgen.ReviveExchangedAccountParams{
		TenantID: t.id, ID: g.ID, NewID: newID(), Version: int32(g.Version), ConnectorVersion: int32(a.Connector.Version), GrantMeta: meta,
		Shared: ReasonSharedExchange,
	}
	if a.Member != nil {
		p.MemberID = &a.Member.UUID
	}
	n, err := t.q.ReviveExchangedAccount(ctx, p)
	if err != nil || n == 0 {
		return false, err
	}
	return true, t.notifyChange(nil, "credential", g.ConnectorID)
}

// DeleteIssuedAccounts deletes the accounts at a connector that no person connected, because its settings have changed, and the signing keys
// when no connector uses them.
func (t Accounts) DeleteIssuedAccounts(ctx context.Context, connector connectors.ConnectorID) error {
	if _, err := t.q.DeleteIssuedAccounts(ctx, t.id, connector.UUID); err != nil {
		return err
	}
	return t.notifyChange(t.deleteUnusedSigningKeys(ctx), "credential", connector)
}
