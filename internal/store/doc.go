// Package store is the only SQL of Patchbay. It remembers, and it decides nothing: the rules are in package connectors.
//
// It has three doors, handed out where the program is wired:
//
//	st.Tenant(id)  *Tenant  one tenant's rows. No method takes a tenant's id; none returns a secret.
//	st.Vault(id)   *Vault   one tenant's secrets, opened. For package credentials only.
//	st.System()    *System  across tenants: who signs in, whose key is this, which process is dead. For auth, jobs and commands.
//
// Secrets are sealed here: sealed_places.go lists where they lie, ring.go has the keys as a running process knows them, and
// rotation.go replaces the key that seals. Nobody else sees what is sealed, or a key.
//
// A tenant's rows are behind five locks, each with a test:
//
//  1. The door fills in the tenant's id; a caller cannot name another.
//  2. Every query on a tenant's table says tenant_id = @tenant_id (an sqlc vet rule and a test over db/queries).
//     What across all tenants seals anew is built from the list in sealed_places.go.
//  3. Foreign keys carry the tenant's id, so that a reference into another tenant cannot be stored.
//  4. Row-level security, forced, under a role that neither owns the tables nor bypasses it; see scope.go.
//  5. The isolation table: a test walks the methods of Tenant and Vault and wants a case for each, in which an outsider
//     finds nothing.
//
// Errors are faults (see classify.go). What is not there, what is another tenant's and what is no id at all answer
// alike: NotFound.
//
// A read of several statements sees one moment: [Tenant.Snapshot], or readTogether in one round trip. A test finds the reads that do
// not, and has a reason for each.
//
// No network call inside [Tenant.Tx] or [Tenant.Snapshot].
package store
