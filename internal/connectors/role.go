package connectors

import "slices"

// Role is what a person or a key may do in one tenant.
type Role string

// The roles. The first four are a ladder: each may do what the ones before it may. The auditor stands beside it, and changes nothing.
const (
	RoleViewer  Role = "viewer"  // reads
	RoleMember  Role = "member"  // also syncs, runs tools, decides approvals
	RoleAdmin   Role = "admin"   // also manages connectors, agents, credentials, and reads the audit log
	RoleOwner   Role = "owner"   // also manages members, API keys, settings
	RoleAuditor Role = "auditor" // reads, the audit log and what is kept of calls among it
)

// Roles lists all roles: the ladder, weakest first, and then what stands beside it.
var Roles = []Role{RoleViewer, RoleMember, RoleAdmin, RoleOwner, RoleAuditor}

// Permission is a kind of thing that a role may do.
type Permission string

// The permissions.
const (
	PermRead    Permission = "read"    // connectors, tools, agents, calls, figures
	PermOperate Permission = "operate" // sync, run tools, decide approvals, cancel calls
	PermManage  Permission = "manage"  // connectors, agents, credentials, webhooks, tools that changed
	PermOwn     Permission = "own"     // members, API keys, settings, single sign-on
	PermAudit   Permission = "audit"   // read the audit log, verify it, export it
	PermBodies  Permission = "bodies"  // read arguments and results of calls, where a tenant keeps them for auditors
)

// permissions is what each role may do. What stands in no row is nobody's.
var permissions = map[Role][]Permission{
	RoleViewer:  {PermRead},
	RoleMember:  {PermRead, PermOperate},
	RoleAdmin:   {PermRead, PermOperate, PermManage, PermAudit},
	RoleOwner:   {PermRead, PermOperate, PermManage, PermAudit, PermOwn},
	RoleAuditor: {PermRead, PermAudit, PermBodies},
}

// Valid tells whether r is one of the roles.
func (r Role) Valid() bool { return slices.Contains(Roles, r) }

// May tells whether a role has a permission. An unknown role has none.
func (r Role) May(p Permission) bool { return slices.Contains(permissions[r], p) }

// LeastRole is the lowest role of the ladder that has a permission, and the auditor where none has.
func LeastRole(p Permission) Role {
	for _, r := range Roles {
		if r.May(p) {
			return r
		}
	}
	return ""
}

// precedence is which of the roles that several groups give a person has: the last. An auditor reads more than a viewer. But whoever may change
// something does not also become the one who looks whether that was right, and an owner does not stop being one by a group of auditors.
var precedence = []Role{RoleViewer, RoleAuditor, RoleMember, RoleAdmin, RoleOwner}

// prevailing is the role that a person has who is given both. No role yields to any.
func prevailing(a, b Role) Role {
	if slices.Index(precedence, b) > slices.Index(precedence, a) {
		return b
	}
	return a
}
