// Package manage changes connectors, credentials and agents for admins. The pages, the API and MCP
// administration call it.
//
// Each operation takes these steps:
//
//  1. Check the caller's role first, so that others learn nothing.
//  2. Validate the input (package connectors) and report all errors with their locations.
//  3. Check new and changed URLs against the egress rules (egress.go).
//  4. Write the rows and the audit event in one transaction.
//
// An import (import.go) is a batch of such operations. A dry run executes and rolls back each transaction
// (dry_run.go).
//
// Nothing here sends requests to servers; syncing is in toolsync. Reads go to the store directly.
package manage
