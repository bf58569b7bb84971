// Package retention deletes history past its tenant's retention: calls, sync runs, health hours, reviewed tool
// changes, unreferenced definitions and expired keys.
//
// The operator sets the days for all tenants, and a tenant can set fewer for itself. A sweep goes through all
// tenants in batches of one small statement each, so that no lock or transaction lasts:
//
//	a page of tenants → the tenant's first day to keep → each part of its history, in batches → counted
//
// A killed sweep has deleted whole batches; the next one finds the rest. Two concurrent sweeps share the work,
// for each skips rows locked by the other. [store.Tenant.SweepHistory] lists what is kept regardless of age.
//
// Rows that expire after minutes or days are deleted elsewhere (docs/operations/retention.md lists them). The audit log
// is never deleted.
package retention
