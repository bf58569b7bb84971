package connectors

import "slices"

// Role is the role of a person or key in one tenant.
type Role string

// The roles. Each of the first four includes the ones before it. The auditor is separate and changes nothing.
const (
	RoleViewer  Role = "viewer"  // reads
	RoleMember  Role = "member"  // also syncs, runs tools, decides approvals
	RoleAdmin   Role = "admin"   // also manages connectors, agents, credentials, and reads the audit log
	RoleOwner   Role = "owner"   // also manages members, API keys, settings
	RoleAuditor Role = "auditor" // also reads the audit log and stored bodies of calls
)

// Roles lists the inclusive roles, weakest first, then the auditor.
var Roles = []Role{RoleViewer, RoleMember, RoleAdmin, RoleOwner, RoleAuditor}

// Permission is a kind of action.
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

var permissions = map[Role][]Permission{
	RoleViewer:  {PermRead},
	RoleMember:  {PermRead, PermOperate},
	RoleAdmin:   {PermRead, PermOperate, PermManage, PermAudit},
	RoleOwner:   {PermRead, PermOperate, PermManage, PermAudit, PermOwn},
	RoleAuditor: {PermRead, PermAudit, PermBodies},
}

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return slices.Contains(Roles, r) }

// May reports whether a role has a permission. An unknown role has none.
func (r Role) May(p Permission) bool { return slices.Contains(permissions[r], p) }

// LowestRole returns the first of Roles with a permission.
func LowestRole(p Permission) Role {
	for _, r := range Roles {
		if r.May(p) {
			return r
		}
	}
	return ""
}

// precedence orders the roles that a person's groups give; the last one counts. An auditor reads more than a
// viewer. But a role that changes things must not turn into the auditor's, and an owner stays owner.
var precedence = []Role{RoleViewer, RoleAuditor, RoleMember, RoleAdmin, RoleOwner}

// higherRole returns the role of higher precedence. No role is lower than any.
func higherRole(a, b Role) Role {
	if slices.Index(precedence, b) > slices.Index(precedence, a) {
		return b
	}
	return a
}
