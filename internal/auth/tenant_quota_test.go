package auth_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

func TestAnOwnersQuotaIsBelowTheOperators(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	operator := w.owner(t)
	owner := auth.Actor{Kind: auth.KindPerson, Tenant: operator.Tenant, Role: connectors.RoleOwner}
	inEffect := func() connectors.Quota {
		t.Helper()
		s, err := w.Door().Self(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Calls()
	}
	set := func(perMinute, perDay int) error {
		return w.auth.ChangeTenant(t.Context(), owner, auth.TenantChange{CallsPerMinute: &perMinute, CallsPerDay: &perDay})
	}
	if err := set(600, 9000); err != nil {
		t.Fatal(err)
	}
	if err := w.auth.LimitTenant(t.Context(), owner, connectors.Quota{PerDay: 5000}); !fault.Is(err, fault.Denied) {
		t.Errorf("an owner said what the operator allows: %v", err)
	}
	if err := w.auth.LimitTenant(t.Context(), operator, connectors.Quota{PerDay: 5000}); err != nil {
		t.Fatal(err)
	}
	if got, want := inEffect(), (connectors.Quota{PerMinute: 600, PerDay: 5000}); got != want {
		t.Errorf("in effect: %+v", got)
	}
	if err := set(500, 9000); err != nil {
		t.Errorf("what stays as it was is no mistake: %v", err)
	}
	var where []string
	for _, f := range fault.As(set(500, 5001)).Fields {
		where = append(where, f.Location)
	}
	if diff := cmp.Diff([]string{"calls_per_day"}, where); diff != "" {
		t.Errorf("above the operator's:\n%s", diff)
	}
	for _, allowed := range []int{5000, 40, 0} {
		if err := set(0, allowed); err != nil {
			t.Errorf("%d: %v", allowed, err)
		}
	}
	if got := inEffect(); got != (connectors.Quota{PerDay: 5000}) {
		t.Errorf("in effect: %+v", got)
	}
	if err := set(-1, 0); !fault.Is(err, fault.Invalid) {
		t.Errorf("below nothing: %v", err)
	}
}
