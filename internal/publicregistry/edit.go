package publicregistry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

const addressSize = 20 // bytes: 160 bits

// newAddress returns a new secret part of an address.
func newAddress() secret.Text {
	bits := make([]byte, addressSize)
	_, _ = rand.Read(bits) // never fails: crypto/rand aborts the program instead
	return secret.Text(hex.EncodeToString(bits))
}

// hashAddress returns what is stored of an address. A plain hash suffices: 160 random bits cannot be guessed.
func hashAddress(address secret.Text) []byte {
	sum := sha256.Sum256([]byte(address.Reveal()))
	return sum[:]
}

// urlOf returns the URL to enter in a client.
func (s *Service) urlOf(address secret.Text) secret.Text {
	return secret.Text(s.baseURL.JoinPath(pathPrefix, address.Reveal()).String())
}

// Create stores a registry, and returns its URL for the only time.
func (s *Service) Create(ctx context.Context, a auth.Actor, r connectors.Registry) (made connectors.Registry, url secret.Text, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return made, "", err
	}
	r = r.Normalized()
	if err := fault.InvalidFields(r.Validate()...); err != nil {
		return made, "", err
	}
	address := newAddress()
	err = s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		n, err := tx.Registries().Count(ctx)
		if err != nil {
			return err
		}
		if n >= connectors.MaxRegistries {
			return fault.Errorf(fault.Conflict, "At most %d registries. Delete one first.", connectors.MaxRegistries)
		}
		if made, err = tx.Registries().Create(ctx, r, hashAddress(address)); err != nil {
			return err
		}
		return tx.RecordChange(ctx, newEvent(a, "registry.create", made), nil, store.OfRegistry(made.ID))
	})
	if err != nil {
		return connectors.Registry{}, "", err
	}
	return made, s.urlOf(address), nil
}

// Change holds the new fields of a registry; nil: unchanged.
type Change struct {
	Name           *string
	EveryConnector *bool
	Agents         *[]string // slugs
	TokenRequired  *bool
}

func (c Change) applyTo(r connectors.Registry) connectors.Registry {
	setIfGiven(&r.Name, c.Name)
	setIfGiven(&r.EveryConnector, c.EveryConnector)
	setIfGiven(&r.Agents, c.Agents)
	setIfGiven(&r.TokenRequired, c.TokenRequired)
	return r.Normalized()
}

func setIfGiven[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Update changes a registry. Its address stays.
func (s *Service) Update(ctx context.Context, a auth.Actor, id connectors.RegistryID, c Change) (updated connectors.Registry, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return updated, err
	}
	err = s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		before, err := tx.LockAndReadState(ctx, store.OfRegistry(id))
		if err != nil {
			return err
		}
		old, err := tx.Registries().Get(ctx, id)
		if err != nil {
			return err
		}
		r := c.applyTo(old)
		if err := fault.InvalidFields(r.Validate()...); err != nil {
			return err
		}
		if err := tx.Registries().Update(ctx, r); err != nil {
			return err
		}
		if updated, err = tx.Registries().Get(ctx, id); err != nil {
			return err
		}
		return tx.RecordChange(ctx, newEvent(a, "registry.update", updated), before, store.OfRegistry(id))
	})
	return updated, err
}

// RotateAddress replaces a registry's address, and returns the new URL for the only time. The old address ends at
// once.
func (s *Service) RotateAddress(ctx context.Context, a auth.Actor, id connectors.RegistryID) (r connectors.Registry, url secret.Text, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return r, "", err
	}
	address := newAddress()
	err = s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		before, err := tx.LockAndReadState(ctx, store.OfRegistry(id))
		if err != nil {
			return err
		}
		if err := tx.Registries().SetAddress(ctx, id, hashAddress(address)); err != nil {
			return err
		}
		if r, err = tx.Registries().Get(ctx, id); err != nil {
			return err
		}
		return tx.RecordChange(ctx, newEvent(a, "registry.rotate_address", r), before, store.OfRegistry(id))
	})
	if err != nil {
		return connectors.Registry{}, "", err
	}
	return r, s.urlOf(address), nil
}

// Delete deletes a registry. Its address ends at once.
func (s *Service) Delete(ctx context.Context, a auth.Actor, id connectors.RegistryID) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		before, err := tx.LockAndReadState(ctx, store.OfRegistry(id))
		if err != nil {
			return err
		}
		r, err := tx.Registries().Get(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.Registries().Delete(ctx, id); err != nil {
			return err
		}
		return tx.RecordChange(ctx, newEvent(a, "registry.delete", r), before, store.OfRegistry(id))
	})
}

func newEvent(a auth.Actor, action string, r connectors.Registry) store.Event {
	e := a.Event(action, r.Name)
	e.Detail = map[string]any{"registry_id": r.ID.String()}
	return e
}
