// Package auth establishes who is calling: a person by session, a program by API key. It also holds what only an owner
// does: members, keys and the tenant's name.
//
//	caller                  proof                          where it is checked
//	a person                session cookie                 [Service.FromSession]
//	a program               Authorization: Bearer pb_key_  [Service.FromBearer]
//	the command line        access to the database         [Operator]
//	a fresh installation    a single-use setup link        [Service.Setup]
//
// The result is an [Actor]: a tenant, a role, and a name for the audit log. The role is read from the database for each
// request, so that a removed member and a revoked key are out at once. Doors ask [Actor.Require] before they act.
//
// An agent's token is none of these: it opens the gateway alone (package access).
//
// What it is not for: whose credential goes to an upstream (package credentials), and how a refusal looks (package respond).
package auth
