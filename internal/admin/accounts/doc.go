// Package accounts serves the pages of credentials: those that admins store, accounts that are connected by
// OAuth, the link by which a person connects one, and a person's own.
package accounts
