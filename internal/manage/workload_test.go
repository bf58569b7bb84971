package manage_test

import (
	"testing"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

func TestWorkloadToken_AdminsChooseIt(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{}, machine, func(d *connectors.Draft) { d.CredentialMode = connectors.CredentialPerAgent })
	ada, agent := b.Member(t, connectors.RoleMember), b.Agent(t)
	if err := b.Door().Agents().MakePersonal(t.Context(), ada.UserID, agent.ID); err != nil {
		t.Fatal(err)
	}
	member := auth.Actor{Kind: auth.KindPerson, Tenant: b.admin.Tenant, Role: connectors.RoleMember, UserID: &ada.UserID, Name: "Ada"}
	ref, slug := connectors.Ref(c.Slug), connectors.Ref(agent.Slug)
	set := func(a auth.Actor, s connectors.Secret) error {
		return b.reg.SetCredential(t.Context(), a, ref, &slug, s)
	}
	if err := set(member, connectors.Secret{ClientSecret: "s3cret"}); err != nil {
		t.Errorf("a member's own secret: %v", err)
	}
	if err := set(member, connectors.Secret{WorkloadToken: "billing"}); !fault.Is(err, fault.Denied) {
		t.Errorf("a member: %v", err)
	}
	if err := set(b.admin, connectors.Secret{WorkloadToken: "billing"}); err != nil {
		t.Errorf("an admin: %v", err)
	}
	wantFields(t, set(b.admin, connectors.Secret{WorkloadToken: "billing", ClientSecret: "s3cret"}), "workload_token")
	wantFields(t, set(b.admin, connectors.Secret{}), "client_secret")
}
