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

// sealedTokens is the JSON form of a grant's tokens under its seal; a machine's secret stands beside them, as
// connectors.Secret writes it. The names are stored: they never change.
type sealedTokens struct {
	Access  string `json:"access_token,omitempty"`
	Refresh string `json:"refresh_token,omitempty"`

	ClientID     string `json:"client_id,omitempty"`
	ClientSecret string `json:"client_secret,omitempty"`
	PrivateKey   string `json:"private_key,omitempty"`
}

// HoldConnector keeps a connector as it is until the transaction ends: what is read of it now holds for what is stored with it.
func (t *Tenant) HoldConnector(ctx context.Context, id connectors.ConnectorID) error {
	return classify(t.q.HoldConnector(ctx, t.id, id))
}

// SaveGrant seals and stores a grant, in place of the credential that was there.
func (t *Tenant) SaveGrant(ctx context.Context, g NewGrant) error {
	plain, meta, err := textsOf(g.GrantTokens)
	if err != nil {
		return err
	}
	p := dbgen.SaveGrantParams{
		TenantID: t.id, ID: connectors.CredentialID{UUID: newID()}, ConnectorID: g.ConnectorID, AgentID: g.AgentID, Origin: g.Origin,
		Account: clean(g.Account), Scopes: listed(g.Scopes), ExpiresAt: g.ExpiresAt, GrantMeta: meta,
	}
	return t.storing(ctx, plain, credentialPlace(t.id, g.ConnectorID, g.AgentID, g.Origin), func(sealed []byte) error {
		p.Sealed = sealed
		if err := t.says(t.q.SaveGrant(ctx, p), "credential", g.ConnectorID); err != nil {
			return err
		}
		return t.connected(ctx, g.ConnectorID, g.AgentID)
	})
}

// Grant opens an agent's grant for a connector, or the machine's secret with the token that it got; agent nil: the shared one. A
// credential of another type is not found.
func (v *Vault) Grant(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID) (Grant, error) {
	row, err := v.q.SealedCredential(ctx, v.id, id, agent)
	if err != nil {
		return Grant{}, found(err, "grant")
	}
	switch row.Type {
	case connectors.AuthOAuth2, connectors.AuthClientCredentials, connectors.AuthPrivateKeyJWT:
	default:
		return Grant{}, missing("grant")
	}
	return v.openGrant(row)
}

func (v *Vault) openGrant(row dbgen.Credential) (Grant, error) {
	c, plain, err := v.open(row)
	if err != nil {
		return Grant{}, err
	}
	g := Grant{Credential: c, RetryAt: utc(row.RetryAt)}
	var tokens sealedTokens
	if json.Unmarshal([]byte(plain.Reveal()), &tokens) != nil { // the cause could quote the secret
		return Grant{}, fault.Errorf(fault.Internal, "The stored grant cannot be read. Connect again.")
	}
	g.Tokens = GrantTokens{
		AccessToken: secret.Text(tokens.Access), RefreshToken: secret.Text(tokens.Refresh), ExpiresAt: c.ExpiresAt, Scopes: c.Scopes,
		Machine: connectors.Secret{
			ClientID: tokens.ClientID, ClientSecret: secret.Text(tokens.ClientSecret), PrivateKey: secret.Text(tokens.PrivateKey),
		},
	}
	if err := json.Unmarshal(row.GrantMeta, &g.Tokens.Meta); err != nil {
		return Grant{}, fmt.Errorf("read a grant's metadata: %w", err)
	}
	return g, nil
}

// LeaseGrant asks for the right to refresh a grant as it was read. It is refused (false) where the grant has changed since or
// is revoked, where another process has the right, and where a failure has to be waited out.
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

// SaveRefreshed seals and stores what a refresh of g gave. It is refused (false) where the lease was lost: then nobody may use
// the new token.
func (v *Vault) SaveRefreshed(ctx context.Context, l Lease, g Grant, t GrantTokens) (bool, error) {
	plain, meta, err := textsOf(t)
	if err != nil {
		return false, err
	}
	p := dbgen.SaveRefreshedParams{
		TenantID: v.id, ID: l.Credential, Version: int32(l.Version), LeaseID: l.ID,
		Scopes: listed(t.Scopes), ExpiresAt: t.ExpiresAt, GrantMeta: meta,
	}
	var n int64
	err = v.keyring.storing(ctx, v.scope, plain, credentialPlace(v.id, g.ConnectorID, g.AgentID, g.Origin), func(sealed []byte) (err error) {
		p.Sealed = sealed
		n, err = v.q.SaveRefreshed(ctx, p)
		return err
	})
	return n == 1, err
}

// EndGrant notes that a grant is dead, with a sentence that says why; the audit log and, where it is the shared one, the
// connector say so, too. It is refused (false) where the lease was lost.
func (v *Vault) EndGrant(ctx context.Context, l Lease, because string) (bool, error) {
	return v.endGrant(ctx, dbgen.EndGrantParams{ID: l.Credential, Version: int32(l.Version), LeaseID: &l.ID, Error: clean(because)})
}

// RefuseGrant is EndGrant for a grant whose token the resource refuses, as its version was; meta is what the next connection
// should know. It is refused (false) where the grant has moved on.
func (v *Vault) RefuseGrant(ctx context.Context, id connectors.CredentialID, version int, meta GrantMeta, because string) (bool, error) {
	b, err := stored("a grant's metadata", meta)
	if err != nil {
		return false, err
	}
	return v.endGrant(ctx, dbgen.EndGrantParams{ID: id, Version: int32(version), GrantMeta: b, Error: clean(because)})
}

func (v *Vault) endGrant(ctx context.Context, p dbgen.EndGrantParams) (bool, error) {
	p.TenantID, p.EventID = v.id, newID()
	ended := false
	err := v.scope.inTx(ctx, func(s scope) error {
		q := dbgen.New(s)
		if err := q.HoldConnectorOf(ctx, v.id, p.ID); err != nil {
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
		of := connectors.AgentName{Slug: about.AgentSlug, Name: about.Agent}
		return teller{id: v.id, scope: s, q: q, jobs: v.jobs}.add(ctx, connectors.NeedsAuthNotice(c, of, p.Error))
	})
	return ended && err == nil, err
}

// DelayRefresh gives a lease back after a failure that may pass. It is refused (false) where the lease was lost.
func (v *Vault) DelayRefresh(ctx context.Context, l Lease, d Delay) (bool, error) {
	n, err := v.q.DelayRefresh(ctx, dbgen.DelayRefreshParams{
		TenantID: v.id, ID: l.Credential, Version: int32(l.Version), LeaseID: l.ID,
		Error: clean(d.Because), Seconds: d.Wait.Seconds(), Lost: d.Lost,
	})
	return n == 1, err
}

// RenewMachineTokens has every machine of a connector get a new token at its next use, and tries again what was refused: the settings
// that it signs in with are others now.
func (t *Tenant) RenewMachineTokens(ctx context.Context, id connectors.ConnectorID) error {
	return t.q.RenewMachineTokens(ctx, t.id, id)
}

// ExpiringCredentials lists the accounts whose access ends within a time, or has ended, and that nobody but a person can renew;
// the soonest first, at most max.
func (t *Tenant) ExpiringCredentials(ctx context.Context, within time.Duration, max int) ([]ExpiringCredential, error) {
	rows, err := t.q.ExpiringCredentials(ctx, t.id, within.Seconds(), int32(max))
	if err != nil {
		return nil, err
	}
	all := make([]ExpiringCredential, len(rows))
	for i, r := range rows {
		all[i] = ExpiringCredential{
			ConnectorSlug: r.ConnectorSlug, ConnectorName: r.ConnectorName, AgentSlug: r.AgentSlug, AgentName: r.AgentName,
			EndsAt: r.LapsesAt.UTC(),
		}
	}
	return all, nil
}

// textsOf are what is stored of tokens: what belongs under the seal, and what does not.
func textsOf(t GrantTokens) (plain secret.Text, meta []byte, err error) {
	b, err := json.Marshal(sealedTokens{
		Access: t.AccessToken.Reveal(), Refresh: t.RefreshToken.Reveal(),
		ClientID: t.Machine.ClientID, ClientSecret: t.Machine.ClientSecret.Reveal(), PrivateKey: t.Machine.PrivateKey.Reveal(),
	})
	if err != nil {
		return "", nil, fmt.Errorf("store a grant: %w", err)
	}
	meta, err = stored("a grant's metadata", t.Meta)
	return secret.Text(b), meta, err
}
