package manage_test

import (
	"testing"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// The request was authorized before the member was removed.
func TestSetCredential_RefusesRemovedMember(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	b.MemberIn(t, b.Tenant, connectors.RoleOwner) // a tenant must keep an owner
	self, err := b.Door().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own := b.Connector(t, func(d *connectors.Draft) {
		d.Auth.Type, d.CredentialMode = connectors.AuthBearer, connectors.CredentialPerAgent
	})
	for _, role := range []connectors.Role{connectors.RoleMember, connectors.RoleAdmin} {
		m, agent := b.Member(t, role), b.Agent(t)
		if err := b.Door().Agents().MakePersonal(t.Context(), m.UserID, agent.ID); err != nil {
			t.Fatal(err)
		}
		who := auth.Actor{Kind: auth.KindPerson, Tenant: self, Role: role, UserID: &m.UserID, Name: m.Name, Email: m.Email}
		set := func() error {
			ref := connectors.Ref(agent.Slug)
			return b.reg.SetCredential(t.Context(), who, connectors.Ref(own.Slug), &ref, connectors.Secret{Token: "hers"})
		}
		if err := set(); err != nil {
			t.Errorf("%s, before: %v", role, err)
		}
		if _, err := b.Door().People().RemoveMember(t.Context(), m.UserID); err != nil {
			t.Fatal(err)
		}
		if err := set(); !fault.Is(err, fault.Denied) {
			t.Errorf("%s, after: %v", role, err)
		}
	}
	if list, err := b.Door().Connectors().Credentials(t.Context(), own.ID, store.Page{}); err != nil || len(list.Items) != 0 {
		t.Errorf("%+v, %v", list.Items, err)
	}
}
