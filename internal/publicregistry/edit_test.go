package publicregistry_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/publicregistry"
	"patchbay/internal/store"
)

func TestCreate_RefusesInvalidRegistries(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	agent := w.Agent(t)
	for name, r := range map[string]connectors.Registry{
		"no name": {EveryConnector: true}, "a long name": {Name: strings.Repeat("x", 101), EveryConnector: true}, "nothing to list": {Name: "A"},
		"many agents": {Name: "A", Agents: strings.Split(strings.Repeat("a b ", 1)+strings.Join(manySlugs(101), " "), " ")},
	} {
		if _, _, err := w.service.Create(t.Context(), w.admin, r); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := w.service.Create(t.Context(), w.admin, connectors.Registry{Name: "A", Agents: []string{agent.Slug, "none"}}); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown agent: %v", err)
	}
	member := w.admin
	member.Role = connectors.RoleMember
	if _, _, err := w.service.Create(t.Context(), member, connectors.Registry{Name: "A", EveryConnector: true}); !fault.Is(err, fault.Denied) {
		t.Errorf("by a member: %v", err)
	}
	if n := w.Count(t, "registries"); n != 0 {
		t.Errorf("%d registries", n)
	}
}

func manySlugs(n int) []string {
	slugs := make([]string, n)
	for i := range slugs {
		slugs[i] = "agent-" + strings.Repeat("x", i+1)
	}
	return slugs
}

func TestCreate_LimitsRegistriesPerTenant(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	for range connectors.MaxRegistries {
		w.publish(t, connectors.Registry{EveryConnector: true})
	}
	if _, _, err := w.service.Create(t.Context(), w.admin, connectors.Registry{Name: "A", EveryConnector: true}); !fault.Is(err, fault.Conflict) {
		t.Errorf("one more: %v", err)
	}
}

func TestEdit_AnotherTenantsRegistryIsNotFound(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	made, path := w.publish(t, connectors.Registry{EveryConnector: true})
	other := w.actor(t, w.Other)
	name := "Mine"
	_, updateErr := w.service.Update(t.Context(), other, made.ID, publicregistry.Change{Name: &name})
	_, _, rotateErr := w.service.RotateAddress(t.Context(), other, made.ID)
	for _, err := range []error{updateErr, rotateErr, w.service.Delete(t.Context(), other, made.ID)} {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
	}
	w.list(t, path+"/v0.1/servers")
}

func TestDelete_EndsTheAddress(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	made, path := w.publish(t, connectors.Registry{EveryConnector: true})
	w.list(t, path+"/v0.1/servers")
	list, err := w.Door().Registries().List(t.Context(), store.Page{})
	if err != nil || len(list.Items) != 1 || list.Items[0].LastUsedAt == nil || list.Items[0].RotatedAt != nil {
		t.Errorf("%+v, %v", list.Items, err)
	}
	if err := w.service.Delete(t.Context(), w.admin, made.ID); err != nil {
		t.Fatal(err)
	}
	if res := w.send(t, http.MethodGet, path+"/v0.1/servers"); res.StatusCode != http.StatusNotFound {
		t.Errorf("after its end: %d", res.StatusCode)
	}
}

func TestRotateAddress_IsAudited(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	made, path := w.publish(t, connectors.Registry{EveryConnector: true})
	rotated, text, err := w.service.RotateAddress(t.Context(), w.admin, made.ID)
	if err != nil || rotated.RotatedAt == nil {
		t.Fatalf("%+v, %v", rotated, err)
	}
	var detail string
	w.AsSystem(t, "select detail::text from audit_events where action = 'registry.rotate_address'", nil, &detail)
	if !strings.Contains(detail, "address") || strings.Contains(detail, path[10:]) || strings.Contains(detail, pathOf(t, text)[10:]) {
		t.Errorf("detail: %s", detail)
	}
}
