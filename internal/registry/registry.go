package registry

import (
	"cmp"

	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// MaxConnectors is how many connectors a tenant has at most, unless [Registry.Limited] says otherwise.
const MaxConnectors = 10_000

// Registry carries out orders.
type Registry struct {
	store     *store.Store
	egress    *safehttp.Policy
	stdio     connectors.AllowedCommands
	most      int              // connectors of a tenant
	offered   *catalog.Catalog // nil: nothing
	guesses   *guesses         // of secrets that are compared
	rehearsal bool             // nothing is stored
	rehearsed int              // connectors that would have been made; of a rehearsal, which is one caller's
}

// New makes a Registry. stdio is what connectors may start on this machine.
func New(st *store.Store, egress *safehttp.Policy, stdio ...connectors.AllowedCommand) *Registry {
	return &Registry{store: st, egress: egress, stdio: stdio, most: MaxConnectors, guesses: newGuesses()}
}

// Limited is r with another bound on the connectors of a tenant; 0: the usual one.
func (r *Registry) Limited(most int) *Registry {
	again := *r
	again.most = cmp.Or(most, MaxConnectors)
	return &again
}

// Offering is r with a catalog of servers to choose from.
func (r *Registry) Offering(c *catalog.Catalog) *Registry {
	again := *r
	again.offered = c
	return &again
}
