package manage_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/store"
)

func (b *testEnv) update(t *testing.T, c connectors.Connector, change manage.Change) (connectors.Connector, []string) {
	t.Helper()
	c, notices, err := b.reg.UpdateConnector(t.Context(), b.admin, connectors.Ref(c.Slug), change)
	if err != nil {
		t.Fatal(err)
	}
	return c, notices
}

func url(u string) manage.Change {
	return manage.Change{Draft: func(d *connectors.Draft) { d.URL = u }, ConfirmMove: true}
}

func TestUpdate_KeepsOtherSettings(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{Token: "s3cret"}, bearer)
	got, notices := b.update(t, c, manage.Change{Draft: func(d *connectors.Draft) { d.Name, d.Slug = "Renamed", "" }})
	if got.Name != "Renamed" || got.Slug != c.Slug || got.URL != c.URL || got.Version != c.Version+1 || notices != nil {
		t.Errorf("connector = %+v, %v", got, notices)
	}
	if sent := b.sent(t, got, nil); sent != "Bearer s3cret" {
		t.Errorf("sent %q", sent)
	}
	if diff := cmp.Diff([]string{"connector.create", "connector.update"}, b.audited(t)); diff != "" {
		t.Error(diff)
	}
}

func TestUpdate_OriginChangeDeletesSecret(t *testing.T) {
	t.Parallel()
	for u, kept := range map[string]bool{
		"https://one.example.com/other?x=1": true,
		"https://ONE.example.com:443/mcp":   true,
		"https://two.example.com/mcp":       false,
		"https://one.example.com:8443/mcp":  false,
	} {
		t.Run(u, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			c := b.create(t, connectors.Secret{Token: "s3cret"}, bearer)
			got, notices := b.update(t, c, url(u))
			if (b.sent(t, got, nil) == "Bearer s3cret") != kept || (len(notices) == 0) != kept {
				t.Errorf("sent %q, notices %q", b.sent(t, got, nil), notices)
			}
		})
	}
}

func TestUpdate_OriginChangeDeletesAgentSecrets(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c, agent := b.create(t, connectors.Secret{}, perAgent), b.Agent(t)
	ref := connectors.Ref(agent.Slug)
	if err := b.reg.SetCredential(t.Context(), b.admin, connectors.Ref(c.Slug), &ref, connectors.Secret{Token: "s3cret"}); err != nil {
		t.Fatal(err)
	}
	got, notices := b.update(t, c, url("https://two.example.com/"))
	want := []string{"Agents' stored secrets deleted, because the URL moved to another origin. Set them again."}
	if diff := cmp.Diff(want, notices); diff != "" || b.sent(t, got, &agent.ID) != "" {
		t.Errorf("%s, sent %q", diff, b.sent(t, got, &agent.ID))
	}
}

func TestUpdate_CredentialModeDeletesSecret(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{Token: "s3cret"}, bearer)
	mode := func(m connectors.CredentialMode) manage.Change {
		return manage.Change{Draft: func(d *connectors.Draft) { d.CredentialMode = m }}
	}
	_, notices := b.update(t, c, mode(connectors.CredentialPerAgent))
	if diff := cmp.Diff([]string{"Stored secret deleted, because each agent has its own now. Set them."}, notices); diff != "" {
		t.Error(diff)
	}
	got, notices := b.update(t, c, mode(connectors.CredentialShared))
	if notices != nil || b.sent(t, got, nil) != "" {
		t.Errorf("back again: sent %q, notices %q", b.sent(t, got, nil), notices)
	}
}

func TestUpdate_SecretWithNewOrigin(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{Token: "s3cret"}, bearer)
	change := url("https://two.example.com/")
	change.Secret = &connectors.Secret{Token: "s3cret-2"}
	got, notices := b.update(t, c, change)
	if sent := b.sent(t, got, nil); sent != "Bearer s3cret-2" || notices != nil {
		t.Errorf("sent %q, notices %q", sent, notices)
	}
}

func TestUpdate_AuthTypeNeedsSecret(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{Key: "s3cret"}, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthAPIKey })
	if c.Auth.Header != connectors.DefaultAPIKeyHeader {
		t.Errorf("header = %q", c.Auth.Header)
	}
	toBearer := manage.Change{Draft: func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer }}
	_, _, err := b.reg.UpdateConnector(t.Context(), b.admin, connectors.Ref(c.Slug), toBearer)
	wantFields(t, err, "auth.token")

	toBearer.Secret = &connectors.Secret{Token: "s3cret-2"}
	got, notices := b.update(t, c, toBearer)
	if sent := b.sent(t, got, nil); sent != "Bearer s3cret-2" || notices != nil || got.Auth.Header != "" {
		t.Errorf("sent %q, notices %q, header %q", sent, notices, got.Auth.Header)
	}
	got, notices = b.update(t, got, manage.Change{Draft: func(d *connectors.Draft) { d.Auth.Type = connectors.AuthNone }})
	list, err := b.Door().Connectors().Credentials(t.Context(), got.ID, store.Page{})
	if err != nil || len(list.Items) != 0 || len(notices) != 1 {
		t.Errorf("credentials = %+v, %v, notices %q", list.Items, err, notices)
	}
}

func TestUpdate_ChecksChangedURL(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{})
	_, _, err := b.reg.UpdateConnector(t.Context(), b.admin, connectors.Ref(c.Slug), url("https://10.0.0.1/"))
	wantFields(t, err, "url")
	// A URL that was allowed once can still be disabled.
	old := b.Connector(t, func(d *connectors.Draft) { d.URL = "http://127.0.0.1:9/mcp" })
	got, _ := b.update(t, old, manage.Change{Draft: func(d *connectors.Draft) { d.Enabled = false }})
	if got.Enabled {
		t.Error("still enabled")
	}
}

func TestUpdate_StaleVersion(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{})
	b.update(t, c, url("https://one.example.com/2"))
	change := url("https://one.example.com/3")
	change.Version = c.Version
	_, _, err := b.reg.UpdateConnector(t.Context(), b.admin, connectors.Ref(c.Slug), change)
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("error = %v", err)
	}
}

func TestUpdate_MergesConcurrentChanges(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{})
	changes := []func(*connectors.Draft){
		func(d *connectors.Draft) { d.Description = "described" },
		func(d *connectors.Draft) { d.RetryAttempts = 1 },
		func(d *connectors.Draft) { d.Headers = map[string]string{"X-Team": "eu"} },
	}
	errs := make([]error, len(changes))
	var all sync.WaitGroup
	for i, change := range changes {
		all.Go(func() {
			_, _, errs[i] = b.reg.UpdateConnector(t.Context(), b.admin, connectors.Ref(c.Slug), manage.Change{Draft: change})
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	now, err := b.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
	if err != nil || now.Description != "described" || now.RetryAttempts != 1 || now.Headers["X-Team"] != "eu" {
		t.Errorf("connector = %+v, %v", now, err)
	}
}

func TestUpdate_OldSecretIsNotSentToNewURL(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{}, perAgent)
	agent := b.Agent(t)
	ref := connectors.Ref(agent.Slug)
	if err := b.reg.SetCredential(t.Context(), b.admin, connectors.Ref(c.Slug), &ref, connectors.Secret{Token: "s3cret"}); err != nil {
		t.Fatal(err)
	}
	if got := b.sent(t, c, &agent.ID); got != "Bearer s3cret" {
		t.Fatalf("sent %q", got)
	}
	// As if the old secrets were deleted before this one was stored.
	d := connectors.DraftOf(c)
	d.URL = "https://two.example.com/"
	moved, err := b.Door().Connectors().Update(t.Context(), c.ID, c.Version, d)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.sent(t, moved, &agent.ID); got != "" {
		t.Errorf("sent %q", got)
	}
}

// The slug of Patchbay's own address is reserved now. A connector that had it before keeps it and can be
// changed.
func TestUpdate_KeepsReservedSlug(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	if c := b.create(t, connectors.Secret{}, func(d *connectors.Draft) { d.Name, d.Slug = "Admin", "" }); c.Slug != "admin-connector" {
		t.Errorf("the name Admin makes the slug %s", c.Slug)
	}
	old := b.ConnectorIn(t, b.Tenant, func(d *connectors.Draft) { d.Slug = "admin" })
	if got, _ := b.update(t, old, manage.Change{Draft: func(d *connectors.Draft) { d.Name = "Renamed" }}); got.Slug != "admin" || got.Name != "Renamed" {
		t.Errorf("connector = %+v", got)
	}
	other := b.create(t, connectors.Secret{}, func(d *connectors.Draft) { d.Name, d.Slug = "Other", "other" })
	_, _, err := b.reg.UpdateConnector(t.Context(), b.admin, connectors.Ref(other.Slug), manage.Change{Draft: func(d *connectors.Draft) { d.Slug = "admin" }})
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("another one gets it: %v", err)
	}
}
