// Package store holds all SQL of Patchbay. It stores and decides nothing: the rules are in package connectors.
//
// It has three entry points:
//
//	st.Tenant(id)  *Tenant  one tenant's rows. No method takes a tenant's id; none returns a secret.
//	st.Vault(id)   *Vault   one tenant's opened secrets: credentials, connect, sso, toolcall, webhooks, gateway.
//	st.System()    *System  across tenants: sign-in, tokens, live processes: auth, jobs, commands, loops of services.
//
// Tenant and System have parts by domain (tenant_parts.go, system_parts.go): tx.Connectors(), tx.Calls(), and others. A
// function that receives a part cannot reach the others.
//
// Secrets are sealed here: sealed_tables.go lists their tables, live_keyring.go holds this process's keys, and
// rotation.go replaces the sealing key. No other package sees ciphertext or keys.
//
// Five locks isolate tenants, each with a test:
//
//  1. [Tenant] fills in the tenant's id; callers cannot pass another.
//  2. Every query on a tenant's table has tenant_id = @tenant_id: an sqlc vet rule and a test over db/queries.
//  3. Foreign keys include the tenant's id.
//  4. Row-level security is forced, for a role that neither owns the tables nor bypasses it (scope.go).
//  5. The isolation table: a test requires a case for each method of Tenant, its parts and Vault, in which another tenant finds nothing.
//
// An audited change reads its subject with [Tenant.LockAndReadState], writes, and ends with [Tenant.RecordChange], which stores
// what differs. [Actions] lists the known actions. A deferred trigger chains the entries by hash at the end of the
// transaction (audit_chain.go); triggers on tool_calls chain the outcomes of calls (call_outcomes.go).
//
// Errors are faults (classify.go). Rows that are missing, of another tenant or named by a malformed id are all NotFound.
//
// Reads of several statements use [Tenant.Snapshot], or runReadBatch in one round trip; reads_test.go lists the exceptions.
// No network call may run inside [Tenant.Tx] or [Tenant.Snapshot].
package store
