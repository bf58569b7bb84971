package manage

import (
	"slices"

	"patchbay/internal/config"
	"patchbay/internal/connectors"
)

// WithWorkloadTokens returns a copy with the tokens that the operator offers, by name.
func (r *Registry) WithWorkloadTokens(tokens map[string]config.WorkloadToken) *Registry {
	again := *r
	again.workloads = tokens
	return &again
}

// WorkloadTokens returns the names of the tokens that a tenant's admins may choose for a connector, sorted.
func (r *Registry) WorkloadTokens(tenant connectors.Tenant, c connectors.Connector) []string {
	var names []string
	for name, t := range r.workloads {
		if c.Auth.Type == connectors.AuthClientCredentials && t.IsForTenant(tenant.Slug) && t.IsForServer(c.CredentialOrigin()) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
