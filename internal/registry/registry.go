package registry

import (
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// Registry carries out orders.
type Registry struct {
	store     *store.Store
	egress    *safehttp.Policy
	rehearsal bool // nothing is stored
}

// New makes a Registry.
func New(st *store.Store, egress *safehttp.Policy) *Registry {
	return &Registry{store: st, egress: egress}
}
