package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// sealedTokens is the stored JSON form of a grant's tokens, so its names never change. A machine client's
// secret has the form of connectors.Secret.
type sealedTokens struct {
	Access  string `json:"access_token,omitempty"`
	Refresh string `json:"refresh_token,omitempty"`

	ProofKey string `json:"dpop_key,omitempty"`
	Bound    bool   `json:"dpop_bound,omitempty"`

	ClientID     string `json:"client_id,omitempty"`
	ClientSecret string `json:"client_secret,omitempty"`
	PrivateKey   string `json:"private_key,omitempty"`

	WorkloadToken string `json:"workload_token,omitempty"`
}

// Lock locks a connector's row until the transaction ends, so that what is read of it holds for what
// is stored with it.
func (t Connectors) Lock(ctx context.Context, id connectors.ConnectorID) error {
	return classifyError(t.q.LockConnectorSettings(ctx, t.id, id))
}

// SaveGrant seals and stores a grant, replacing the previous credential.
func (t Accounts) SaveGrant(ctx context.Context, g NewGrant) error {
	plain, meta, err := encodeTokens(g.GrantTokens)
	if err != nil {
		return err
	}
	name, err := t.chooseAccountName(ctx, g.ConnectorID, g.AgentID, g.Name)
	if err != nil {
		return err
	}
	p := dbgen.SaveGrantParams{
		TenantID: t.id, Name: name, ID: connectors.CredentialID{UUID: newID()}, ConnectorID: g.ConnectorID, AgentID: g.AgentID, Origin: g.Origin,
		Account: cleanText(g.Account), Scopes: nonNilTexts(g.Scopes), ExpiresAt: g.ExpiresAt, GrantMeta: meta, Replaces: g.Replaces,
	}
	return t.sealAndRetry(ctx, plain, credentialAD(t.id, accountPlace{g.ConnectorID, g.AgentID, name, g.Origin}), func(sealed []byte) error {
		p.Sealed = sealed
		if err := t.notifyChange(t.q.SaveGrant(ctx, p), "credential", g.ConnectorID); err != nil {
			return err
		}
		return t.markAccountConnected(ctx, g.ConnectorID, g.AgentID)
	})
}

// Grant opens an agent's only grant for a connector, or a machine client's secret and token; agent nil: the shared
// one. A credential of another type is not found. Several are a Conflict of [TypeAccountRequired].
func (v *Vault) Grant(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID) (Grant, error) {
	return v.NamedGrant(ctx, id, agent, "")
}

// NamedGrant is [Vault.Grant] for the account with a name; empty: the only one.
func (v *Vault) NamedGrant(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID, name string) (Grant, error) {
	row, err := v.sealedAccount(ctx, id, agent, name)
	switch {
	case fault.Is(err, fault.NotFound):
		return Grant{}, newNotFound("grant")
	case err != nil:
		return Grant{}, err
	}
	return v.openTypedGrant(row)
}

// GrantByID is [Vault.Grant] for an account that was read before. It is not found once the row may be of another account.
func (v *Vault) GrantByID(ctx context.Context, id connectors.CredentialID) (Grant, error) {
	row, err := v.q.SealedCredential(ctx, v.id, id)
	if err != nil {
		return Grant{}, rowError(err, "grant")
	}
	return v.openTypedGrant(row)
}

func (v *Vault) openTypedGrant(row dbgen.Credential) (Grant, error) {
	switch row.Type {
	case connectors.AuthOAuth2, connectors.AuthClientCredentials, connectors.AuthPrivateKeyJWT:
	default:
		return Grant{}, newNotFound("grant")
	}
	return v.openGrant(row)
}

func (v *Vault) openGrant(row dbgen.Credential) (Grant, error) {
	c, plain, err := v.openCredential(row)
	if err != nil {
		return Grant{}, err
	}
	g := Grant{Credential: c, RetryAt: toUTC(row.RetryAt)}
	var tokens sealedTokens
	if json.Unmarshal([]byte(plain.Reveal()), &tokens) != nil { // the cause could quote the secret
		return Grant{}, fault.Errorf(fault.Internal, "The stored grant can't be read. Connect again.")
	}
	g.Tokens = GrantTokens{
		AccessToken: secret.Text(tokens.Access), RefreshToken: secret.Text(tokens.Refresh), ExpiresAt: c.ExpiresAt, Scopes: c.Scopes,
		ProofKey: secret.Text(tokens.ProofKey), Bound: tokens.Bound,
		Machine: connectors.Secret{
			ClientID: tokens.ClientID, ClientSecret: secret.Text(tokens.ClientSecret), PrivateKey: secret.Text(tokens.PrivateKey), WorkloadToken: tokens.WorkloadToken,
		},
	}
	if err := json.Unmarshal(row.GrantMeta, &g.Tokens.Meta); err != nil {
		return Grant{}, fmt.Errorf("read a grant's metadata: %w", err)
	}
	g.Identity = g.Tokens.Meta.Identity
	return g, nil
}

// LeaseGrant leases the right to refresh a grant as it was read. It is false if the grant changed or is
// revoked, another process has the lease, or a failure's delay is not over.
func (v *Vault) LeaseGrant(ctx context.Context, g Grant, d time.Duration) (Lease, bool, error) {
	l := Lease{ID: newID(), Credential: g.ID, Version: g.Version}
	lost, err := v.q.LeaseGrant(ctx, dbgen.LeaseGrantParams{
		TenantID: v.id, ID: l.Credential, Version: int32(l.Version), LeaseID: l.ID, Seconds: d.Seconds(),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return Lease{}, false, nil
	}
	l.Lost = lost
	return l, err == nil, err
}

// SaveRefreshed seals and stores refreshed tokens. It is false if the lease was lost: then the new token must
// not be used.
func (v *Vault) SaveRefreshed(ctx context.Context, l Lease, g Grant, t GrantTokens) (bool, error) {
	plain, meta, err := encodeTokens(t)
	if err != nil {
		return false, err
	}
	p := dbgen.SaveRefreshedParams{
		TenantID: v.id, ID: l.Credential, Version: int32(l.Version), LeaseID: l.ID,
		Scopes: nonNilTexts(t.Scopes), ExpiresAt: t.ExpiresAt, GrantMeta: meta,
	}
	var n int64
	err = v.keyring.sealAndRetry(ctx, v.scope, plain, credentialAD(v.id, accountPlace{g.ConnectorID, g.AgentID, g.Name, g.Origin}), func(sealed []byte) (err error) {
		p.Sealed = sealed
		n, err = v.q.SaveRefreshed(ctx, p)
		return err
	})
	return n == 1, err
}

// EndGrant marks a grant as dead, with a sentence, also in the audit log and, for the shared grant, at the
// connector. said is what the server said; nil: nothing. It is false if the lease was lost.
func (v *Vault) EndGrant(ctx context.Context, l Lease, because string, said *connectors.Upstream) (bool, error) {
	return v.endGrant(ctx, dbgen.EndGrantParams{ID: l.Credential, Version: int32(l.Version), LeaseID: &l.ID, Error: cleanText(because)}, said)
}

// RefuseGrant is [Vault.EndGrant] for a grant version that the resource refuses. meta is kept for the next
// connection. It is false if the grant has changed.
func (v *Vault) RefuseGrant(
	ctx context.Context, id connectors.CredentialID, version int, meta GrantMeta, because string, said *connectors.Upstream,
) (bool, error) {
	b, err := marshalColumn("a grant's metadata", meta)
	if err != nil {
		return false, err
	}
	return v.endGrant(ctx, dbgen.EndGrantParams{ID: id, Version: int32(version), GrantMeta: b, Error: cleanText(because)}, said)
}

func (v *Vault) endGrant(ctx context.Context, p dbgen.EndGrantParams, said *connectors.Upstream) (bool, error) {
	p.TenantID, p.EventID, p.Upstream = v.id, newID(), encodeUpstream(said)
	ended := false
	err := v.scope.inTx(ctx, func(s scope) error {
		q := dbgen.New(s)
		if err := q.LockConnectorOfCredential(ctx, v.id, p.ID); err != nil {
			return err
		}
		n, err := q.EndGrant(ctx, p)
		if ended = n == 1; err != nil || !ended {
			return err
		}
		about, err := q.AccountSubject(ctx, v.id, p.ID)
		if err != nil {
			return err
		}
		c := connectors.ConnectorName{ID: about.ConnectorID, Slug: about.ConnectorSlug, Name: about.Connector}
		of := connectors.NoticeAccount{Agent: connectors.AgentName{Slug: about.AgentSlug, Name: about.Agent}, Name: about.AccountName}
		return noticeWriter{id: v.id, scope: s, q: q, jobs: v.jobs}.add(ctx, connectors.NeedsAuthNotice(c, of, p.Error, said))
	})
	return ended && err == nil, err
}

// DelayRefresh releases a lease after a temporary failure. It is false if the lease was lost.
func (v *Vault) DelayRefresh(ctx context.Context, l Lease, d Delay) (bool, error) {
	n, err := v.q.DelayRefresh(ctx, dbgen.DelayRefreshParams{
		TenantID: v.id, ID: l.Credential, Version: int32(l.Version), LeaseID: l.ID,
		Error: cleanText(d.Because), Seconds: d.Wait.Seconds(), Lost: d.Lost, Upstream: encodeUpstream(d.Said),
	})
	return n == 1, err
}

// RenewMachineTokens makes every machine client of a connector request a new token at its next use, refused
// ones too: the client settings have changed.
func (t Accounts) RenewMachineTokens(ctx context.Context, id connectors.ConnectorID) error {
	return t.q.RenewMachineTokens(ctx, t.id, id)
}

// ExpiringCredentials lists the accounts that expire within a time, or have expired, and that only a person can
// renew; soonest first, at most max.
func (t Accounts) ExpiringCredentials(ctx context.Context, within time.Duration, max int) ([]ExpiringCredential, error) {
	rows, err := t.q.ExpiringCredentials(ctx, t.id, within.Seconds(), int32(max))
	if err != nil {
		return nil, err
	}
	all := make([]ExpiringCredential, len(rows))
	for i, r := range rows {
		all[i] = ExpiringCredential{
			Name:          r.AccountName,
			ConnectorSlug: r.ConnectorSlug, ConnectorName: r.ConnectorName, AgentSlug: r.AgentSlug, AgentName: r.AgentName,
			EndsAt: r.LapsesAt.UTC(),
		}
	}
	return all, nil
}

// encodeTokens returns the sealed and the plain part of tokens.
func encodeTokens(t GrantTokens) (plain secret.Text, meta []byte, err error) {
	b, err := json.Marshal(sealedTokens{
		Access: t.AccessToken.Reveal(), Refresh: t.RefreshToken.Reveal(), ProofKey: t.ProofKey.Reveal(), Bound: t.Bound,
		ClientID: t.Machine.ClientID, ClientSecret: t.Machine.ClientSecret.Reveal(), PrivateKey: t.Machine.PrivateKey.Reveal(), WorkloadToken: t.Machine.WorkloadToken,
	})
	if err != nil {
		return "", nil, fmt.Errorf("store a grant: %w", err)
	}
	meta, err = marshalColumn("a grant's metadata", t.Meta)
	return secret.Text(b), meta, err
}
