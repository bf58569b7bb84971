package manage

import (
	"cmp"

	"patchbay/internal/catalog"
	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// MaxConnectors is the default maximum of connectors per tenant.
const MaxConnectors = 10_000

// Registry performs the operations.
type Registry struct {
	store         *store.Store
	egress        *safehttp.Policy
	stdio         connectors.AllowedCommands
	maxConnectors int                        // per tenant
	catalog       *catalog.Catalog           // nil: none
	compareLimit  *limit.Rate[credentialKey] // of wrong guesses
	index         *documentIndexes           // of HTTP APIs
	previews      *limit.Gate[connectors.TenantID]
	isDryRun      bool
	dryRunCreated int // created by a dry run, which has one caller

	workloads map[string]config.WorkloadToken // the operator's, by name
}

// New returns a Registry. stdio lists the commands that connectors may start on this machine.
func New(st *store.Store, egress *safehttp.Policy, stdio ...connectors.AllowedCommand) *Registry {
	return &Registry{store: st, egress: egress, stdio: stdio, maxConnectors: MaxConnectors, compareLimit: newCompareLimit(), index: &documentIndexes{}, previews: limit.NewGate[connectors.TenantID](maxPreviews, 0)}
}

// WithMaxConnectors returns a copy with another maximum; 0: the default.
func (r *Registry) WithMaxConnectors(maxConnectors int) *Registry {
	again := *r
	again.maxConnectors = cmp.Or(maxConnectors, MaxConnectors)
	return &again
}

// WithCatalog returns a copy with a catalog.
func (r *Registry) WithCatalog(c *catalog.Catalog) *Registry {
	again := *r
	again.catalog = c
	return &again
}
