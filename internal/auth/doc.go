// Package auth identifies callers: a person by session, a program by API key. It also holds the actions of owners: members,
// keys and the tenant's name.
//
//	caller                  proof                          where it is checked
//	a person                session cookie                 [Service.FromSession]
//	a program               Authorization: Bearer pb_key_  [Service.FromBearer]
//	the command line        access to the database         [Operator]
//	a new installation      a single-use setup link        [Service.Setup]
//
// The result is an [Actor]: a tenant, a role, and a name for the audit log. The role is read from the database for each
// request, so that removing a member or revoking a key takes effect at once. Handlers call [Actor.Require] before they act.
//
// An agent's token is none of these: it opens the gateway alone (package agentview). Package credentials chooses upstream
// credentials, and package respond writes refusals.
package auth
