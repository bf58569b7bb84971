package apitools

import "patchbay/internal/connectors"

// HasTurn reports whether a tenant reads a document.
func HasTurn(tenant connectors.TenantID) bool { return turns.IsKeyFull(tenant) }

// HasBundle reports whether a tenant bundles a document.
func HasBundle(tenant connectors.TenantID) bool { return bundles.IsKeyFull(tenant) }
