package registry

import (
	"patchbay/internal/connectors"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// Registry carries out orders.
type Registry struct {
	store     *store.Store
	egress    *safehttp.Policy
	stdio     connectors.AllowedCommands
	rehearsal bool // nothing is stored
}

// New makes a Registry. stdio is what connectors may start on this machine.
func New(st *store.Store, egress *safehttp.Policy, stdio ...connectors.AllowedCommand) *Registry {
	return &Registry{store: st, egress: egress, stdio: stdio}
}
