package scim

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Settings returns the state of the tenant's SCIM address, for an owner. It fails with NotFound if SCIM is off.
func (s *Service) Settings(ctx context.Context, a auth.Actor) (connectors.SCIM, error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return connectors.SCIM{}, err
	}
	return s.store.Tenant(a.Tenant.ID).SCIM().Settings(ctx)
}

// Enable turns SCIM on. Only here is the token returned; an HMAC of it is stored.
func (s *Service) Enable(ctx context.Context, a auth.Actor) (connectors.SCIM, secret.Text, error) {
	return s.storeToken(ctx, a, "scim.enable", store.SCIM.Enable)
}

// RotateToken replaces the token. The old one ends at once.
func (s *Service) RotateToken(ctx context.Context, a auth.Actor) (connectors.SCIM, secret.Text, error) {
	return s.storeToken(ctx, a, "scim.rotate_token", store.SCIM.SetToken)
}

// Disable turns SCIM off: the token ends, and the provider's users and groups are forgotten. Members stay.
func (s *Service) Disable(ctx context.Context, a auth.Actor) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, store.OfSCIM())
		if err != nil {
			return err
		}
		if err := tx.SCIM().Disable(ctx); err != nil {
			return err
		}
		return tx.RecordChange(ctx, a.Event("scim.disable", a.Tenant.Name), was, store.OfSCIM())
	})
}

// storeToken makes a token and stores it with an audit entry.
func (s *Service) storeToken(
	ctx context.Context, a auth.Actor, action string, put func(store.SCIM, context.Context, store.NewSCIMToken) error,
) (settings connectors.SCIM, token secret.Text, err error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return settings, "", err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return settings, "", fmt.Errorf("make token id: %w", err)
	}
	text := secret.NewBearer(secret.SCIMBearer, id)
	mac, err := s.store.Keyring().SignBearer(text)
	if err != nil {
		return settings, "", fmt.Errorf("authenticate token: %w", err)
	}
	err = s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, store.OfSCIM())
		if err != nil {
			return err
		}
		if err := put(tx.SCIM(), ctx, store.NewSCIMToken{ID: id, Prefix: text.Prefix(), SecretMAC: mac}); err != nil {
			return err
		}
		if settings, err = tx.SCIM().Settings(ctx); err != nil {
			return err
		}
		return tx.RecordChange(ctx, a.Event(action, a.Tenant.Name), was, store.OfSCIM())
	})
	if err != nil {
		return connectors.SCIM{}, "", err
	}
	return settings, text.Text(), nil
}
