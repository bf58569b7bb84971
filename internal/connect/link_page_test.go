package connect_test

import (
	"strings"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

func TestNobodyGetsALinkForAMembersAgent(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c, agent, ada := b.protected(t, perAgent), b.Agent(t), b.person(t, b.Tenant, connectors.RoleMember)
	before, err := b.broker.Link(t.Context(), ada, ref(c.ID), agentRef(agent), "")
	must(t, err)
	must(t, b.Door().Agents().MakePersonal(t.Context(), *ada.UserID, agent.ID))

	page := baseURL + "/account/connections/" + agent.ID.String() + "/" + c.ID.String()
	for name, who := range map[string]auth.Actor{
		"themselves": ada, "an admin": b.admin, "a key": {Kind: auth.KindKey, Tenant: ada.Tenant, Role: connectors.RoleAdmin},
	} {
		_, err := b.broker.Link(t.Context(), who, ref(c.ID), agentRef(agent), "")
		if f := faultOf(t, err, fault.Denied, ""); !strings.Contains(f.Message, page) {
			t.Errorf("%s: %s", name, f.Message)
		}
		way, err := b.broker.LinkOrPage(t.Context(), who, ref(c.ID), agentRef(agent), "")
		if err != nil || !way.SignIn || way.URL != page {
			t.Errorf("%s: %+v, %v", name, way, err)
		}
	}
	_, err = b.broker.LinkOrPage(t.Context(), b.person(t, b.Tenant, connectors.RoleMember), ref(c.ID), agentRef(agent), "")
	wantFault(t, err, fault.Denied, "")
	b.refusesLink(t, secret.Text(strings.TrimPrefix(before.URL, baseURL+"/connect/")), fault.NotFound)
	if n := b.count(t, "connect_links"); n != 1 {
		t.Errorf("%d links", n)
	}
	b.wantNothing(t, c)
}

func TestLink_RequiresReauthentication(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	shared, each, agent := b.protected(t), b.protected(t, perAgent), b.Agent(t)
	never, past, program := b.admin, b.admin, b.admin
	long := time.Now().Add(-auth.RecentAuthTTL - time.Minute)
	never.ReauthenticatedAt, past.ReauthenticatedAt, program.Program = nil, &long, &store.ActingClient{}
	for name, who := range map[string]auth.Actor{"never": never, "long ago": past, "a program": program} {
		_, err := b.broker.Link(t.Context(), who, ref(shared.ID), nil, "")
		wantFault(t, err, fault.Denied, auth.CodeReauthenticate)
		way, err := b.broker.LinkOrPage(t.Context(), who, ref(shared.ID), nil, "")
		if err != nil || !way.SignIn || way.URL != baseURL+"/connectors/"+shared.Slug+"/credentials" {
			t.Errorf("%s: %+v, %v", name, way, err)
		}
		way, err = b.broker.LinkOrPage(t.Context(), who, ref(each.ID), agentRef(agent), "")
		if err != nil || !way.SignIn || way.URL != baseURL+"/connectors/"+each.Slug+"/credentials#credential-"+agent.Slug {
			t.Errorf("%s: %+v, %v", name, way, err)
		}
	}
	if n := b.count(t, "connect_links"); n != 0 {
		t.Errorf("%d links", n)
	}
	way, err := b.broker.LinkOrPage(t.Context(), b.admin, ref(shared.ID), nil, "")
	if err != nil || way.SignIn || !strings.HasPrefix(way.URL, baseURL+"/connect/") {
		t.Errorf("confirmed: %+v, %v", way, err)
	}
}
