package connectors_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestRoleOf_UsesPrecedence(t *testing.T) {
	t.Parallel()
	table := []connectors.GroupRole{
		{Group: "admins", Role: connectors.RoleAdmin}, {Group: "everyone", Role: connectors.RoleViewer}, {Group: "leads", Role: connectors.RoleOwner},
		{Group: "auditors", Role: connectors.RoleAuditor}, {Group: "staff", Role: connectors.RoleMember},
	}
	for name, c := range map[string]struct {
		groups   []string
		standard connectors.Role
		want     connectors.Role
	}{
		"one":                     {[]string{"everyone"}, "", connectors.RoleViewer},
		"several":                 {[]string{"everyone", "admins"}, "", connectors.RoleAdmin},
		"in any order":            {[]string{"leads", "everyone"}, "", connectors.RoleOwner},
		"an auditor who reads":    {[]string{"auditors", "everyone"}, "", connectors.RoleAuditor},
		"an auditor who acts":     {[]string{"auditors", "staff"}, "", connectors.RoleMember},
		"an auditor who owns":     {[]string{"leads", "auditors"}, "", connectors.RoleOwner},
		"none that is known":      {[]string{"Admins", "admins "}, "", ""},
		"none":                    {nil, "", ""},
		"none, with a default":    {nil, connectors.RoleMember, connectors.RoleMember},
		"a group before the rest": {[]string{"everyone"}, connectors.RoleAdmin, connectors.RoleViewer},
	} {
		role, ok := connectors.SSO{Groups: table, DefaultRole: c.standard}.RoleOf(c.groups)
		if role != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v", name, role, ok)
		}
	}
}

func TestSSO_CoversOnlyVerifiedDomains(t *testing.T) {
	t.Parallel()
	s := connectors.SSO{Domains: []connectors.SSODomain{{Domain: "acme.example", VerifiedAt: new(time.Now())}, {Domain: "claimed.example"}}}
	for email, want := range map[string]bool{
		"ada@acme.example": true, "Ada@ACME.example\n": true, "ada@claimed.example": false, "ada@sub.acme.example": false,
		"ada@notacme.example": false, "ada@acme.example.evil.example": false, "@acme.example": false, "acme.example": false,
		"ada@evil.example@acme.example": false, "ada@acme.example@evil.example": false, "": false,
	} {
		if s.Covers(email) != want {
			t.Errorf("%q: %v", email, !want)
		}
	}
}
