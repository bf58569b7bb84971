package authserver

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// introspection is a token introspection response (RFC 7662 section 2.2). An invalid token, or another
// tenant's, is only inactive.
type introspection struct {
	Active   bool          `json:"active"`
	Scope    string        `json:"scope,omitempty"`
	ClientID string        `json:"client_id,omitempty"`
	Type     string        `json:"token_type,omitempty"`
	Issuer   string        `json:"iss,omitempty"`
	Audience string        `json:"aud,omitempty"`
	Subject  string        `json:"sub,omitempty"` // person that authorized the client
	Expires  int64         `json:"exp,omitempty"`
	Issued   int64         `json:"iat,omitempty"`
	Agent    string        `json:"agent_id,omitempty"`
	Workload string        `json:"workload,omitempty"` // name of the workload that holds it
	Key      *confirmation `json:"cnf,omitempty"`
}

// confirmation is the key that a token is bound to (RFC 9449 section 6.2).
type confirmation struct {
	Thumbprint string `json:"jkt"`
}

func newConfirmation(key string) *confirmation {
	if key == "" {
		return nil
	}
	return &confirmation{Thumbprint: key}
}

// introspectToken describes an access token of the actor's tenant.
func (s *Server) introspectToken(ctx context.Context, a auth.Actor, text secret.Text) (introspection, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return introspection{}, err
	}
	if token, ok := secret.ParseBearer(secret.MemberBearer, text); ok {
		return s.introspectMemberToken(ctx, a, token)
	}
	token, ok := secret.ParseBearer(secret.AgentBearer, text)
	if !ok {
		return introspection{}, nil
	}
	stored, err := s.store.System().Sessions().AgentToken(ctx, connectors.AgentTokenID{UUID: token.ID})
	if fault.Is(err, fault.NotFound) {
		return introspection{}, nil
	}
	if err != nil {
		return introspection{}, err
	}
	expires := stored.Token.ExpiresAt
	if stored.Tenant != a.Tenant.ID || !s.verifyBearer(ctx, token.Bound(stored.Key), stored.SecretMAC) || expires != nil && !expires.After(s.now()) {
		return introspection{}, nil
	}
	agent, err := s.store.Tenant(a.Tenant.ID).Agents().Get(ctx, connectors.Ref(stored.Token.AgentID.String()))
	if err != nil || !agent.Enabled {
		return introspection{}, invalidIfNotFound(err)
	}
	is := introspection{
		Active: true, Scope: Scope, Type: tokenType(stored.Key), Key: newConfirmation(stored.Key), Issuer: s.issuer, Audience: s.issuer + gatewayPath, Issued: stored.Token.CreatedAt.Unix(), Agent: agent.ID.String(),
	}
	if expires != nil {
		is.Expires = expires.Unix()
	}
	if stored.Workload != nil {
		is.Audience, is.ClientID, is.Workload = s.issuer+stored.Resource, stored.Workload.String(), stored.Token.Name
	}
	if stored.Client == nil {
		return is, nil
	}
	is.Audience = s.issuer + stored.Resource
	err = s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		locked, err := tx.Agents().LockClient(ctx, *stored.Client)
		is.ClientID, is.Subject = locked.ClientID, locked.UserID.String()
		return err
	})
	if fault.Is(err, fault.NotFound) { // it has just ended
		return introspection{}, nil
	}
	return is, err
}

// introspectMemberToken describes an access token that acts as a member.
func (s *Server) introspectMemberToken(ctx context.Context, a auth.Actor, token secret.Bearer) (introspection, error) {
	t, err := s.store.System().People().MemberToken(ctx, connectors.MemberTokenID{UUID: token.ID})
	if err != nil {
		return introspection{}, invalidIfNotFound(err)
	}
	let, now := auth.ClientAuthorization{At: t.AuthorizedAt, BySSO: t.BySSO, AsMember: true}, s.now()
	if t.Member.Tenant.ID != a.Tenant.ID || !s.verifyBearer(ctx, token.Bound(t.Key), t.SecretMAC) || !t.ExpiresAt.After(now) || s.auth.EndReason(let, t.Owner, now) != "" {
		return introspection{}, nil
	}
	return introspection{
		Active: true, Scope: string(t.Scope), ClientID: t.ClientID, Type: tokenType(t.Key), Key: newConfirmation(t.Key), Issuer: s.issuer, Audience: s.issuer + adminPath,
		Subject: t.UserID.String(), Expires: t.ExpiresAt.Unix(), Issued: t.CreatedAt.Unix(),
	}, nil
}
