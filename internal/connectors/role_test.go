package connectors_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

var everyPermission = []connectors.Permission{
	connectors.PermRead, connectors.PermOperate, connectors.PermManage, connectors.PermOwn, connectors.PermAudit, connectors.PermBodies,
}

// The table repeats the API's contract: a change of a role's permissions must be made here too.
func TestRole_PermissionsMatchContract(t *testing.T) {
	t.Parallel()
	want := map[connectors.Role]string{
		connectors.RoleViewer:  "read",
		connectors.RoleMember:  "read operate",
		connectors.RoleAdmin:   "read operate manage audit",
		connectors.RoleOwner:   "read operate manage own audit",
		connectors.RoleAuditor: "read audit bodies",
	}
	have := map[connectors.Role]string{}
	for _, r := range connectors.Roles {
		if !r.Valid() {
			t.Errorf("%s is no role", r)
		}
		have[r] = permissionsOf(r)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	for _, r := range []connectors.Role{"", "root", "Owner", "auditor "} {
		if r.Valid() || permissionsOf(r) != "" {
			t.Errorf("%q may %s", r, permissionsOf(r))
		}
	}
}

func permissionsOf(r connectors.Role) (all string) {
	for _, p := range everyPermission {
		if r.May(p) {
			all += " " + string(p)
		}
	}
	if all == "" {
		return ""
	}
	return all[1:]
}

func TestLowestRole_OfEachPermission(t *testing.T) {
	t.Parallel()
	for p, want := range map[connectors.Permission]connectors.Role{
		connectors.PermRead: connectors.RoleViewer, connectors.PermOperate: connectors.RoleMember, connectors.PermManage: connectors.RoleAdmin,
		connectors.PermOwn: connectors.RoleOwner, connectors.PermAudit: connectors.RoleAdmin, connectors.PermBodies: connectors.RoleAuditor, "fly": "",
	} {
		if have := connectors.LowestRole(p); have != want {
			t.Errorf("%s: %q, want %q", p, have, want)
		}
	}
}
