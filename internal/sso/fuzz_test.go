package sso

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// FuzzClaims checks that an identity has one verified address and a list of groups, or is refused, and that no
// role exceeds its groups.
func FuzzClaims(f *testing.F) {
	for _, seed := range []string{
		`{"sub":"1","email":"ada@acme.example","email_verified":true,"groups":["engineers"]}`,
		`{"sub":"1","email":" Ada@ACME.example","email_verified":"true","groups":"admins"}`,
		`{"sub":"1","email":"ada@acme.example","email_verified":true,"groups":{"0":"admins"}}`,
		`{"sub":"1","email":"ada@acme.example","email_verified":1,"groups":[["admins"]]}`,
		`{"sub":"1","email":"ada@acme.example","email_verified":true,"groups":["admins",null,7]}`,
		`{"sub":"1","sub":"2","Email":"eve@evil.example","email":"ada@evil.example@acme.example","email_verified":true,"groups":[]}`,
		`{"sub":"1","email":"ada@acme.example","email_verified":true,"Groups":["admins"],"groups":null}`,
		`{"sub":"1","email":"@acme.example","email_verified":true}`,
		`[]`, `null`, `{`,
	} {
		f.Add([]byte(seed))
	}
	verified := time.Unix(0, 0)
	settings := connectors.SSO{
		GroupsClaim: "groups", Groups: []connectors.GroupRole{{Group: "engineers", Role: connectors.RoleMember}, {Group: "admins", Role: connectors.RoleAdmin}},
		Domains: []connectors.SSODomain{{Domain: "acme.example", VerifiedAt: &verified}, {Domain: "claimed.example"}},
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var who idClaims
		all := map[string]json.RawMessage{}
		if json.Unmarshal(body, &who) != nil || json.Unmarshal(body, &all) != nil {
			return
		}
		found, err := newIdentity(settings, store.SSOSubject{ID: "1"}, who, all)
		if err != nil {
			return
		}
		if who.Subject != "1" || strings.Count(found.Email, "@") != 1 || found.Email != strings.ToLower(found.Email) || !slices.Contains([]string{"true", `"true"`}, string(who.Verified)) {
			t.Errorf("%s is taken for %+v", body, found)
		}
		if len([]rune(found.Email)) > 254 || strings.ContainsFunc(found.Email, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
			t.Errorf("%q is an address that no account has", found.Email)
		}
		if settings.Covers(found.Email) && !strings.HasSuffix(found.Email, "@acme.example") {
			t.Errorf("%q is of a domain that was proven", found.Email)
		}
		held := names(all["groups"])
		if len(found.Groups) > maxClaims || !slices.Equal(found.Groups, held) {
			t.Errorf("%s are the groups %q", all["groups"], found.Groups)
		}
		role, ok := settings.RoleOf(found.Groups)
		admin, engineer := slices.Contains(held, "admins"), slices.Contains(held, "engineers")
		if ok != (admin || engineer) || admin != (role == connectors.RoleAdmin) {
			t.Errorf("%s give the role %q", all["groups"], role)
		}
	})
}

// names reads a list of names, or one name, independently of the program: by decoding any JSON. A null is an
// empty name.
func names(raw json.RawMessage) (list []string) {
	var v any
	_ = json.Unmarshal(raw, &v)
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			name, _ := one.(string)
			list = append(list, name)
		}
	}
	return list
}
