package auth_test

import (
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

func TestDefaultsAreAnOwnersAndAreRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.owner(t)
	hourly := auth.TenantChange{Defaults: auth.DefaultsChange{SyncInterval: new(time.Hour)}}
	admin := owner
	admin.Role = connectors.RoleAdmin
	if err := w.auth.ChangeTenant(t.Context(), admin, hourly); !fault.Is(err, fault.Denied) {
		t.Errorf("an admin: %v", err)
	}
	for range 2 { // the second changes nothing, and is not recorded
		if err := w.auth.ChangeTenant(t.Context(), owner, hourly); err != nil {
			t.Fatal(err)
		}
	}
	self, err := w.Door().Self(t.Context())
	if err != nil || self.Defaults.SyncInterval != time.Hour || self.Defaults.Approval != connectors.ApprovalAlwaysAsk {
		t.Errorf("%+v, %v", self.Defaults, err)
	}
	events, err := w.Door().Audit().List(t.Context(), store.AuditFilter{Action: "tenant.set_defaults"})
	if err != nil || len(events.Items) != 1 {
		t.Fatalf("%+v, %v", events, err)
	}
}

func TestTheStateOfTheSealingKeysIsAnOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.owner(t)
	keys, err := w.auth.SealingKeys(t.Context(), owner)
	if err != nil || !keys.Own || len(keys.Keys) != 1 || !keys.Keys[0].IsPrimary || keys.Keys[0].ID == w.Keyring.Primary() || keys.RotatedAt != nil || keys.Unfinished {
		t.Errorf("%+v, %v", keys, err)
	}
	for _, role := range []connectors.Role{connectors.RoleViewer, connectors.RoleMember, connectors.RoleAdmin} {
		other := owner
		other.Role = role
		if _, err := w.auth.SealingKeys(t.Context(), other); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v", role, err)
		}
	}
}
