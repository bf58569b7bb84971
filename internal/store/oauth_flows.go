package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// SaveFlow stores a pending authorization with its PKCE verifier sealed: a leaked database must not let anyone
// finish it.
func (t Accounts) SaveFlow(ctx context.Context, f NewFlow) error {
	id := newID()
	startedBy, err := marshalColumn("a flow's starter", f.StartedBy)
	if err != nil {
		return err
	}
	metadata, err := marshalColumn("a flow's metadata", f.Server)
	if err != nil {
		return err
	}
	p := dbgen.SaveFlowParams{
		TenantID: t.id, ID: id, StateHash: f.StateHash, BrowserHash: f.BrowserHash, ConnectorID: f.ConnectorID, AgentID: f.AgentID,
		StartedBy: startedBy, Origin: f.Origin, Metadata: metadata, ClientID: cleanText(f.ClientID), Resource: cleanText(f.Resource),
		Scopes: nonNilTexts(f.Scopes), RedirectUri: f.RedirectURI, ReturnTo: cleanText(f.ReturnTo),
		Replaces: f.Replaces, Account: f.Account, AccountID: f.AccountID,
	}
	return t.sealAndRetry(ctx, f.Verifier, flowAD(t.id, id), func(sealed []byte) error {
		p.Sealed = sealed
		return t.q.SaveFlow(ctx, p)
	})
}

// DeleteFlows deletes the pending authorizations of a connector. Their callbacks fail.
func (t Accounts) DeleteFlows(ctx context.Context, id connectors.ConnectorID) error {
	return t.q.DeleteFlows(ctx, t.id, id)
}

// TakeFlow deletes and returns the pending authorization of a state hash. An expired one is not found.
func (s SystemSessions) TakeFlow(ctx context.Context, stateHash []byte) (Flow, error) {
	r, err := s.q.ConsumeFlow(ctx, stateHash)
	if err != nil {
		return Flow{}, rowError(err, "pending connection")
	}
	f := Flow{
		NewFlow: NewFlow{
			StateHash: r.StateHash, BrowserHash: r.BrowserHash, ConnectorID: r.ConnectorID, AgentID: r.AgentID, Origin: r.Origin,
			ClientID: r.ClientID, Resource: r.Resource, Scopes: r.Scopes, RedirectURI: r.RedirectUri, ReturnTo: r.ReturnTo, Replaces: r.Replaces, Account: r.Account,
			AccountID: r.AccountID,
		},
		ID: r.ID, Tenant: r.TenantID, CreatedAt: r.CreatedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(), sealed: r.Sealed,
	}
	if err := json.Unmarshal(r.StartedBy, &f.StartedBy); err != nil {
		return Flow{}, fmt.Errorf("read a flow's starter: %w", err)
	}
	if err := json.Unmarshal(r.Metadata, &f.Server); err != nil {
		return Flow{}, fmt.Errorf("read a flow's metadata: %w", err)
	}
	return f, nil
}

// Verifier opens the PKCE verifier of a flow of this tenant.
func (v *Vault) Verifier(f Flow) (secret.Text, error) {
	if f.Tenant != v.id {
		return "", newNotFound("pending connection")
	}
	plain, err := v.keyring.Open(f.sealed, flowAD(v.id, f.ID))
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "The pending connection can't be decrypted. Connect again.")
	}
	return plain, nil
}

// SaveConnectLink stores a link.
func (t Accounts) SaveConnectLink(ctx context.Context, l NewConnectLink) error {
	madeBy, err := marshalColumn("a link's maker", l.MadeBy)
	if err != nil {
		return err
	}
	return t.q.SaveConnectLink(ctx, dbgen.SaveConnectLinkParams{
		TenantID: t.id, TokenHash: l.TokenHash, ConnectorID: l.ConnectorID, AgentID: l.AgentID, Account: l.Account, AccountID: l.AccountID, MadeBy: madeBy,
		ReturnTo: cleanText(l.ReturnTo), ExpiresAt: l.ExpiresAt,
	})
}

// ConnectLink finds a link by the hash of its token. An expired one is not found.
func (s SystemSessions) ConnectLink(ctx context.Context, tokenHash []byte) (ConnectLink, error) {
	r, err := s.q.ConnectLink(ctx, tokenHash)
	if err != nil {
		return ConnectLink{}, rowError(err, "link")
	}
	return toConnectLink(r)
}

// TakeConnectLink deletes and returns a link by the hash of its token.
func (s SystemSessions) TakeConnectLink(ctx context.Context, tokenHash []byte) (ConnectLink, error) {
	r, err := s.q.ConsumeConnectLink(ctx, tokenHash)
	if err != nil {
		return ConnectLink{}, rowError(err, "link")
	}
	return toConnectLink(r)
}

func toConnectLink(r dbgen.ConnectLink) (ConnectLink, error) {
	l := ConnectLink{
		NewConnectLink: NewConnectLink{
			TokenHash: r.TokenHash, ConnectorID: r.ConnectorID, AgentID: r.AgentID, Account: r.Account, AccountID: r.AccountID, ReturnTo: r.ReturnTo,
			ExpiresAt: r.ExpiresAt.UTC(),
		},
		Tenant: r.TenantID, CreatedAt: r.CreatedAt.UTC(),
	}
	if err := json.Unmarshal(r.MadeBy, &l.MadeBy); err != nil {
		return ConnectLink{}, fmt.Errorf("read a link's maker: %w", err)
	}
	return l, nil
}

func flowAD(tenant connectors.TenantID, id uuid.UUID) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "oauth_flows", Column: "sealed", Row: id.String()}
}

// marshalColumn encodes a value for a jsonb column.
func marshalColumn(what string, v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", what, err)
	}
	return cleanJSON(b), nil
}

// nonNilTexts returns texts for a not-null array column.
func nonNilTexts(texts []string) []string {
	all := make([]string, len(texts))
	for i, s := range texts {
		all[i] = cleanText(s)
	}
	return all
}
