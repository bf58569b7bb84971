package store

import (
	"context"
	"encoding/json"
	"fmt"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// SSOTokens is what a member's sign-in left for exchanges at the provider.
type SSOTokens struct {
	IDToken       secret.Text
	RefreshToken  secret.Text // empty: none
	TokenEndpoint string      // of the provider, as it was at the sign-in
	AuthMethods   []string    // token_endpoint_auth_methods_supported; nil: not published
}

// sealedSSOTokens is the stored JSON form, so its names never change.
type sealedSSOTokens struct {
	IDToken       string   `json:"id_token"`
	RefreshToken  string   `json:"refresh_token,omitempty"`
	TokenEndpoint string   `json:"token_endpoint"`
	AuthMethods   []string `json:"auth_methods,omitempty"`
}

// ProviderSignIn is a member's sign-in with the tenant's client at the provider.
type ProviderSignIn struct {
	SSOTokens
	Issuer       string
	ClientID     string
	ClientSecret secret.Text
}

// NewManagedAccount is an account with tokens from a member's sign-in at the provider.
type NewManagedAccount struct {
	ConnectorID connectors.ConnectorID
	AgentID     connectors.AgentID // personal agent of the member
	Member      connectors.UserID
	Origin      string
	Meta        GrantMeta
}

// SaveTokens stores what a member's sign-in left, and lets the member's ended accounts request tokens again.
func (t SSO) SaveTokens(ctx context.Context, user connectors.UserID, issuer string, s SSOTokens) error {
	issuer = cleanText(issuer)
	plain, err := json.Marshal(sealedSSOTokens{
		IDToken: s.IDToken.Reveal(), RefreshToken: s.RefreshToken.Reveal(), TokenEndpoint: s.TokenEndpoint, AuthMethods: s.AuthMethods,
	})
	if err != nil {
		return fmt.Errorf("store a sign-in: %w", err)
	}
	err = t.sealAndRetry(ctx, secret.Text(plain), ssoTokensAD(t.id, user, issuer), func(sealed []byte) error {
		return t.q.SaveSSOTokens(ctx, dbgen.SaveSSOTokensParams{TenantID: t.id, UserID: user, Issuer: issuer, Sealed: sealed})
	})
	if err != nil {
		return err
	}
	renewed, err := t.q.RenewManagedAccounts(ctx, t.id, &user)
	for _, id := range renewed {
		err = t.notifyChange(err, "credential", id)
	}
	return err
}

// DeleteTokens deletes what sign-ins left, and the accounts that depend on it. Members' tokens from token exchange are requested again.
func (t SSO) DeleteTokens(ctx context.Context) error {
	if err := t.q.DeleteSSOTokens(ctx, t.id); err != nil {
		return err
	}
	deleted, err := t.q.DeleteManagedAccounts(ctx, t.id)
	for _, id := range deleted {
		err = t.notifyChange(err, "credential", id)
	}
	if err != nil {
		return err
	}
	return t.expireMembersTokens(ctx)
}

// ManagedMember returns the member that an agent belongs to, if the member's sign-in at the provider can give the agent an account at
// the connector. Else it fails with NotFound.
func (t Accounts) ManagedMember(ctx context.Context, agent connectors.AgentID, connector connectors.ConnectorID) (connectors.UserID, error) {
	id, err := t.q.ManagedMember(ctx, t.id, agent, connector.UUID)
	return id, rowError(err, "member")
}

// ReasonSharedAgent is why an agent that others' programs may act as has no managed account.
const ReasonSharedAgent = "An admin's token, workload or program may act as this member's agent. Delete it, then sign in to Patchbay again, or connect an account."

// endManagedAccounts ends an agent's managed accounts when a program may act as it. by is the member that authorized the program,
// which keeps its own accounts; nil: an admin.
func (t *tenant) endManagedAccounts(ctx context.Context, agent connectors.AgentID, by *connectors.UserID) error {
	ended, err := t.q.EndManagedAccounts(ctx, dbgen.EndManagedAccountsParams{
		Error: ReasonSharedAgent, ExchangeError: ReasonSharedExchange, TenantID: t.id, AgentID: agent.UUID, ByMember: by,
	})
	for _, id := range ended {
		err = t.notifyChange(err, "credential", id)
	}
	return err
}

// AddManagedAccount stores an account without a token, unless the agent has an account at the connector.
func (t Accounts) AddManagedAccount(ctx context.Context, a NewManagedAccount) error {
	plain, meta, err := encodeTokens(GrantTokens{Meta: a.Meta})
	if err != nil {
		return err
	}
	p := dbgen.AddManagedAccountParams{
		TenantID: t.id, ID: newID(), ConnectorID: a.ConnectorID.UUID, AgentID: a.AgentID, UserID: a.Member, Origin: a.Origin, GrantMeta: meta,
	}
	return t.sealAndRetry(ctx, plain, credentialAD(t.id, accountPlace{a.ConnectorID, &a.AgentID, connectors.DefaultAccount, a.Origin}), func(sealed []byte) error {
		p.Sealed = sealed
		n, err := t.q.AddManagedAccount(ctx, p)
		if err != nil || n == 0 {
			return err
		}
		return t.notifyChange(nil, "credential", a.ConnectorID)
	})
}

// PinManagedIssuer returns the authorization server to which members' identities for a connector go: the first one, unless an admin
// has confirmed another.
func (t Accounts) PinManagedIssuer(ctx context.Context, id connectors.ConnectorID, issuer string, confirmed bool) (string, error) {
	pinned, err := t.q.PinManagedIssuer(ctx, dbgen.PinManagedIssuerParams{TenantID: t.id, ID: id, Issuer: cleanText(issuer), Confirmed: confirmed})
	return pinned, rowError(err, "connector")
}

// ProviderSignIn opens what a member's sign-in left, with the tenant's client. It fails with NotFound if the member has not signed in
// at the present provider, or its sign-ins give no accounts.
func (v *Vault) ProviderSignIn(ctx context.Context, member connectors.UserID) (ProviderSignIn, error) {
	row, err := v.q.SSOTokens(ctx, v.id, member)
	if err != nil {
		return ProviderSignIn{}, rowError(err, "sign-in")
	}
	plain, err := v.keyring.Open(row.Sealed, ssoTokensAD(v.id, member, row.Issuer))
	if err != nil {
		return ProviderSignIn{}, fault.Wrap(fault.Internal, err, "The stored sign-in can't be decrypted. Sign in again.")
	}
	client, err := v.keyring.Open(row.ClientSealed, ssoSecretAD(v.id, row.Issuer))
	if err != nil {
		return ProviderSignIn{}, fault.Wrap(fault.Internal, err, "The stored client secret can't be decrypted. Set it again.")
	}
	var s sealedSSOTokens
	if json.Unmarshal([]byte(plain.Reveal()), &s) != nil { // the cause could quote the secret
		return ProviderSignIn{}, fault.Errorf(fault.Internal, "The stored sign-in can't be read. Sign in again.")
	}
	return ProviderSignIn{
		SSOTokens: SSOTokens{
			IDToken: secret.Text(s.IDToken), RefreshToken: secret.Text(s.RefreshToken), TokenEndpoint: s.TokenEndpoint, AuthMethods: s.AuthMethods,
		},
		Issuer: row.Issuer, ClientID: row.ClientID, ClientSecret: client,
	}, nil
}

// ssoTokensAD binds a sign-in to its tenant, member and issuer.
func ssoTokensAD(tenant connectors.TenantID, user connectors.UserID, issuer string) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "sso_tokens", Column: "sealed", Row: user.String() + "/" + issuer}
}

// AssertedMember returns the member that a provider's subject is, in the tenant where identity assertions of the provider sign members
// in. It fails with NotFound if there is none, and if there are several: an assertion does not say which is meant.
func (s SystemSessions) AssertedMember(ctx context.Context, subject SSOSubject) (connectors.TenantID, connectors.UserID, error) {
	rows, err := s.q.AssertedMembers(ctx, cleanText(subject.Issuer), cleanText(subject.ID))
	switch {
	case err != nil:
		return connectors.TenantID{}, connectors.UserID{}, err
	case len(rows) != 1:
		return connectors.TenantID{}, connectors.UserID{}, newNotFound("member")
	}
	return rows[0].TenantID, rows[0].UserID, nil
}
