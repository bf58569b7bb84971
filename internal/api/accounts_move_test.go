package api_test

import (
	"strings"
	"testing"

	"patchbay/client"
	"patchbay/internal/connectors"
	"patchbay/internal/manifest"
	"patchbay/internal/testing/fixture"
)

func TestNamedAccounts_MoveByManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api := w.newClientIn(t, w.Tenant)
	c := w.Connector(t, func(d *connectors.Draft) { d.Slug, d.Auth.Type = "notes", connectors.AuthBearer })
	for _, account := range []string{"home", "work"} {
		if err := api.SetCredential(t.Context(), c.Slug, client.SecretPut{Token: new("hush")}, client.SetCredentialQuery{Account: account}); err != nil {
			t.Fatal(err)
		}
	}
	text := w.moveByManifest(t)
	for _, part := range []string{"CONNECTOR_NOTES__HOME__TOKEN", "CONNECTOR_NOTES__WORK__TOKEN"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s in\n%s", part, text)
		}
	}
}

func TestNamedAccounts_OfAnAgentAreApplied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api := w.newClientIn(t, w.Tenant)
	c := w.Connector(t, func(d *connectors.Draft) {
		d.Slug, d.Auth.Type, d.CredentialMode = "notes", connectors.AuthBearer, connectors.CredentialPerAgent
	})
	a := w.Agent(t)
	w.Grant(t, a.ID, c.ID, fixture.Named("search"))
	apply := func(text string) (names []string) {
		t.Helper()
		file, err := manifest.Read([]byte(text), manifest.Sources{Env: func(name string) string { return name }})
		if err != nil {
			t.Fatal(err)
		}
		state, err := manifest.Fetch(t.Context(), api, manifest.Scope{})
		if err != nil {
			t.Fatal(err)
		}
		steps, err := manifest.Plan(t.Context(), api, file, state, manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			names = append(names, s.Kind+" "+s.Name)
			if err := s.Do(t.Context(), api); err != nil {
				t.Fatal(err)
			}
		}
		return names
	}
	text := `agents: {` + a.Slug + `: {connectors: {notes: {tools: all, account: work, credentials: {home: {token: {env: A}}, work: {token: {env: B}}}}}}}`
	want := "grant " + a.Slug + " notes, credential notes " + a.Slug + " (home), credential notes " + a.Slug + " (work)"
	if got := strings.Join(apply(text), ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if again := apply(text); len(again) != 0 {
		t.Errorf("applied again: %q", again)
	}
	changed := strings.Replace(text, "env: B", "env: C", 1)
	if got := strings.Join(apply(changed), ", "); got != "credential notes "+a.Slug+" (work)" {
		t.Errorf("after a change: %s", got)
	}
}
