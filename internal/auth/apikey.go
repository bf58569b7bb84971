package auth

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// KeyRequest describes an API key to make.
type KeyRequest struct {
	Name      string // 1–100 characters
	Role      connectors.Role
	ExpiresAt *time.Time // nil: never
}

// IssueKey makes an API key in the actor's tenant. Only here is its text returned; an HMAC of it is stored.
func (s *Service) IssueKey(ctx context.Context, a Actor, req KeyRequest) (connectors.APIKey, secret.Text, error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return connectors.APIKey{}, "", err
	}
	req.Name = strings.TrimSpace(req.Name)
	if err := s.checkKey(req); err != nil {
		return connectors.APIKey{}, "", err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return connectors.APIKey{}, "", fmt.Errorf("make key id: %w", err)
	}
	text := secret.NewBearer(secret.KeyBearer, id)
	mac, err := s.store.Keyring().SignBearer(text)
	if err != nil {
		return connectors.APIKey{}, "", fmt.Errorf("authenticate key: %w", err)
	}
	var key connectors.APIKey
	err = s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		key, err = tx.People().CreateAPIKey(ctx, store.NewAPIKey{
			ID: connectors.APIKeyID{UUID: id}, Name: req.Name, Role: req.Role, Prefix: text.Prefix(), SecretMAC: mac, ExpiresAt: req.ExpiresAt, CreatedBy: a.Name,
		})
		if err != nil {
			return err
		}
		return tx.RecordChange(ctx, keyEvent(a, "api_key.create", key.ID, req.Name), nil, store.OfAPIKey(key.ID))
	})
	if err != nil {
		return connectors.APIKey{}, "", err
	}
	return key, text.Text(), nil
}

func (s *Service) checkKey(req KeyRequest) error {
	fields := checkName(req.Name)
	if !req.Role.Valid() {
		fields = append(fields, newRoleFault())
	}
	if req.ExpiresAt != nil && !req.ExpiresAt.After(s.now()) {
		fields = append(fields, fault.Field{Location: "expires_at", Message: "Expiry must be in the future."})
	}
	return fault.InvalidFields(fields...)
}

// RevokeKey revokes an API key of the actor's tenant, effective with its next request.
func (s *Service) RevokeKey(ctx context.Context, a Actor, id connectors.APIKeyID) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, store.OfAPIKey(id))
		if err != nil {
			return err
		}
		if err := tx.People().RevokeAPIKey(ctx, id); err != nil {
			return err
		}
		name, _ := was["name"].(string)
		return tx.RecordChange(ctx, keyEvent(a, "api_key.revoke", id, name), was, store.OfAPIKey(id))
	})
}

func keyEvent(a Actor, action string, id connectors.APIKeyID, name string) store.Event {
	e := a.Event(action, name)
	e.Detail = map[string]any{"api_key_id": id.String()}
	return e
}

// FromBearer identifies the API key of an Authorization header.
func (s *Service) FromBearer(ctx context.Context, header string) (Actor, error) {
	scheme, token, _ := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return Actor{}, newBadKeyError("Send an API key as Authorization: Bearer pb_key_….")
	}
	if secret.IsBearer(secret.AgentBearer, secret.Text(token)) {
		return Actor{}, newBadKeyError("Use an API key (pb_key_…), not a gateway token.")
	}
	if secret.IsBearer(secret.MemberBearer, secret.Text(token)) {
		return Actor{}, newBadKeyError("Use an API key (pb_key_…). This token only works at /mcp/admin.")
	}
	text, ok := secret.ParseBearer(secret.KeyBearer, secret.Text(token))
	if !ok {
		return Actor{}, newBadKeyError("Incomplete API key.")
	}
	stored, err := s.store.System().People().APIKey(ctx, connectors.APIKeyID{UUID: text.ID})
	if fault.Is(err, fault.NotFound) {
		return Actor{}, newBadKeyError("Unknown API key.")
	}
	if err != nil {
		return Actor{}, fmt.Errorf("find API key: %w", err)
	}
	if s.store.VerifyBearer(ctx, text, stored.SecretMAC) != nil {
		return Actor{}, newBadKeyError("Unknown API key.")
	}
	if stored.Key.RevokedAt != nil {
		return Actor{}, newBadKeyError("API key revoked.")
	}
	if stored.Key.ExpiresAt != nil && !stored.Key.ExpiresAt.After(s.now()) {
		return Actor{}, newBadKeyError("API key expired.")
	}
	s.touchKey(ctx, stored.Key)
	return Actor{
		Kind: KindKey, Tenant: stored.Tenant, Role: stored.Key.Role, KeyID: &stored.Key.ID, Name: stored.Key.Name,
	}, nil
}

func newBadKeyError(message string) error { return fault.Errorf(fault.Unauthenticated, "%s", message) }

// touchKey records a key's use at most once a minute. It runs within the request: a goroutine would outlive the
// server.
func (s *Service) touchKey(ctx context.Context, key connectors.APIKey) {
	now := s.now()
	s.touchedMu.Lock()
	due := now.Sub(s.touched[key.ID]) >= time.Minute && (key.LastUsedAt == nil || now.Sub(*key.LastUsedAt) >= time.Minute)
	if due {
		s.touched[key.ID] = now
	}
	s.touchedMu.Unlock()
	if !due {
		return
	}
	if err := s.store.System().People().TouchAPIKey(ctx, key.ID); err != nil {
		// The request continues: the time of last use matters less.
		s.log.WarnContext(ctx, "api key use not recorded", "api_key_id", key.ID, "error", err)
	}
}
