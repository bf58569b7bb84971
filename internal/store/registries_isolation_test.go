package store_test

import (
	"context"
	"crypto/sha256"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// registryOf is a tenant's registry of one agent.
type registryOf struct {
	registry connectors.Registry
	address  [sha256.Size]byte
}

func (o *outsider) fillRegistries(t *testing.T) {
	t.Helper()
	o.address = sha256.Sum256([]byte("theirs"))
	var err error
	o.registry, err = o.Door().Registries().Create(t.Context(), connectors.Registry{Name: "Theirs", Agents: []string{o.agent.Slug}}, o.address[:])
	if err != nil {
		t.Fatal(err)
	}
}

// registryAttempts are the outsider's at registries.
var registryAttempts = map[string]attempt{
	"Registries.Create": func(ctx context.Context, o outsider) (bool, error) {
		hash := sha256.Sum256([]byte("mine"))
		if _, err := o.door.Registries().Create(ctx, connectors.Registry{Name: "Mine", Agents: []string{o.agent.Slug}}, hash[:]); err == nil {
			return true, nil // of the victim's agent
		}
		mine, err := o.door.Registries().Create(ctx, connectors.Registry{Name: "Mine", EveryConnector: true}, hash[:])
		if err != nil {
			return true, err
		}
		return mine.ID == o.registry.ID, o.door.Registries().Delete(ctx, mine.ID)
	},
	"Registries.List": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Registries().List(ctx, store.Page{}))
	},
	"Registries.Count": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Registries().Count(ctx)
		return n > 0, err
	},
	"Registries.Get": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Registries().Get(ctx, o.registry.ID))
	},
	"Registries.Update": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Registries().Update(ctx, connectors.Registry{ID: o.registry.ID, Name: "Mine", EveryConnector: true})
	},
	"Registries.SetAddress": func(ctx context.Context, o outsider) (bool, error) {
		hash := sha256.Sum256([]byte("mine"))
		return true, o.door.Registries().SetAddress(ctx, o.registry.ID, hash[:])
	},
	"Registries.Delete": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Registries().Delete(ctx, o.registry.ID)
	},
	"Registries.Touch": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Registries().Touch(ctx, o.registry.ID); err != nil {
			return true, err
		}
		r, err := o.Door().Registries().Get(ctx, o.registry.ID)
		return r.LastUsedAt != nil, err
	},
	"Registries.Entries": func(ctx context.Context, o outsider) (bool, error) {
		every := o.registry
		every.EveryConnector = true
		for _, r := range []connectors.Registry{o.registry, every} {
			for _, agent := range []*connectors.AgentID{nil, &o.agent.ID} {
				found, err := o.door.Registries().Entries(ctx, r, store.EntryFilter{Agent: agent, Slug: o.connector.Slug, Limit: 10})
				if err != nil || len(found) > 0 {
					return true, err
				}
			}
		}
		return false, nil
	},
}

// ownRegistries are the methods that make or show the outsider's own.
var ownRegistries = map[string]bool{
	"Registries.Create": true, "Registries.List": true, "Registries.Count": true, "Registries.Touch": true, "Registries.Entries": true,
}

func TestRegistry_IsFoundByItsCurrentAddressOnly(t *testing.T) {
	t.Parallel()
	o := newOutsider(t)
	tenant, r, err := o.St.System().Sessions().Registry(t.Context(), o.address[:])
	if err != nil || tenant != o.Tenant || r.ID != o.registry.ID {
		t.Errorf("%s %+v, %v", tenant, r, err)
	}
	next := sha256.Sum256([]byte("next"))
	if err := o.Door().Registries().SetAddress(t.Context(), r.ID, next[:]); err != nil {
		t.Fatal(err)
	}
	if _, _, err := o.St.System().Sessions().Registry(t.Context(), o.address[:]); err == nil {
		t.Error("the old address is found")
	}
}
