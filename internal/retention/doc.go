// Package retention forgets history that is older than its tenant keeps it: calls, sync runs, hours of health, decided changes of tools,
// definitions that nothing shows any more, and keys that have been of no use for so long.
//
// How many days are kept the operator says for all, and a tenant for itself, as many or fewer. One sweep goes through all tenants, part by
// part, in batches of one small statement each, so that no lock and no transaction lasts:
//
//	tenants, a page at a time → the day before which the tenant forgets → each part, batch after batch → counted
//
// A sweep that is killed has forgotten whole batches; the next one begins anew and finds the rest. Two at once share the work: what one has
// locked the other leaves alone. What is kept all the same, however old, says [store.Tenant.SweepHistory].
//
// This package does not forget what ends by itself after minutes or days (docs/operations.md lists it), and never the audit log.
package retention
