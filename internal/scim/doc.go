// Package scim lets an organisation's identity provider manage members by SCIM 2.0 (RFC 7643, RFC 7644).
//
// An owner turns it on and gives the provider the address and its token (settings.go). A request:
//
//  1. The token finds the tenant (serve.go). Every request of a tenant's token reaches this tenant alone.
//  2. The library github.com/elimity-com/scim reads paths, bodies, filters and PATCH operations, and checks them by the schemas
//     (resources.go). The dialects of Okta and Entra are among its tests.
//  3. A change runs in one transaction, which locks the token: a replaced token changes nothing any more (change.go).
//  4. An active user with a role is a member. Roles come from the groups of the single sign-on settings (member.go). Deactivation
//     ends the membership with its sessions, tokens and accounts in the same transaction.
//
// SCIM never ends the membership of the last owner, of the break-glass owner, or of the last owner with a way to sign in.
package scim
