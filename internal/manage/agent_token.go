package manage

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// TokenRequest describes a token to create.
type TokenRequest struct {
	Name      string     // at most 100 characters; may be empty
	ExpiresAt *time.Time // nil: never
}

// IssueToken creates an agent's token. The text is returned once; an HMAC of it is stored.
func (r *Registry) IssueToken(
	ctx context.Context, a auth.Actor, agent connectors.Ref, req TokenRequest,
) (connectors.AgentToken, secret.Text, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.AgentToken{}, "", err
	}
	var made connectors.AgentToken
	var text secret.Text
	err := r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		owner, err := tx.Agents().Get(ctx, agent)
		if err != nil {
			return err
		}
		made, text, err = r.insertToken(ctx, tx, a, owner, req)
		return err
	})
	if err != nil {
		return connectors.AgentToken{}, "", err
	}
	return made, text, nil
}

func (r *Registry) insertToken(
	ctx context.Context, tx *store.Tenant, a auth.Actor, owner connectors.Agent, req TokenRequest,
) (connectors.AgentToken, secret.Text, error) {
	req.Name = strings.TrimSpace(req.Name)
	if err := req.checkFields(); err != nil {
		return connectors.AgentToken{}, "", err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return connectors.AgentToken{}, "", fmt.Errorf("make token id: %w", err)
	}
	text := secret.NewBearer(secret.AgentBearer, id)
	mac, err := r.store.Keyring().SignBearer(text)
	if err != nil {
		return connectors.AgentToken{}, "", fmt.Errorf("authenticate token: %w", err)
	}
	made, err := tx.Agents().CreateToken(ctx, store.NewAgentToken{
		ID: connectors.AgentTokenID{UUID: id}, AgentID: owner.ID, Name: req.Name, Prefix: text.Prefix(), SecretMAC: mac, ExpiresAt: req.ExpiresAt,
	})
	if err != nil {
		return connectors.AgentToken{}, "", err
	}
	return made, text.Text(), tx.RecordChange(ctx, tokenEvent(a, "agent_token.create", owner, made), nil, store.OfAgentToken(made.ID))
}

func (q TokenRequest) checkFields() error {
	fields := connectors.AgentToken{Name: q.Name}.Validate()
	if q.ExpiresAt != nil && !q.ExpiresAt.After(time.Now()) {
		fields = append(fields, fault.Field{Location: "expires_at", Message: "Expiry must be in the future."})
	}
	return fault.InvalidFields(fields...)
}

// Tokens lists an agent's tokens, newest first.
func (r *Registry) Tokens(
	ctx context.Context, a auth.Actor, agent connectors.Ref, p store.Page,
) (list store.List[connectors.AgentToken], err error) {
	err = r.store.Tenant(a.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		owner, err := tx.Agents().Get(ctx, agent)
		if err != nil {
			return err
		}
		list, err = tx.Agents().Tokens(ctx, owner.ID, p)
		return err
	})
	return list, err
}

// RevokeToken deletes a token. It takes effect within a second in every process.
func (r *Registry) RevokeToken(ctx context.Context, a auth.Actor, agent connectors.Ref, id connectors.AgentTokenID) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		owner, err := tx.Agents().Get(ctx, agent)
		if err != nil {
			return err
		}
		before, err := tx.LockAndReadState(ctx, store.OfAgentToken(id))
		if err != nil {
			return err
		}
		revoked, err := tx.Agents().DeleteToken(ctx, owner.ID, id)
		if err != nil {
			return err
		}
		return tx.RecordChange(ctx, tokenEvent(a, "agent_token.revoke", owner, revoked), before, store.OfAgentToken(id))
	})
}

func tokenEvent(a auth.Actor, action string, agent connectors.Agent, token connectors.AgentToken) store.Event {
	e := a.Event(action, agent.Slug)
	e.Detail = map[string]any{"agent_id": agent.ID.String(), "token_id": token.ID.String(), "name": token.Name}
	return e
}
