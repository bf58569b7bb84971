package mcpadmin_test

import (
	"strings"
	"testing"

	"patchbay/client"
	"patchbay/internal/connectors"
)

// listedAccounts is a list of a connector's accounts.
type listedAccounts struct {
	Items []struct {
		Name   string
		Agent  string
		Status string
		Syncs  bool
	}
}

func TestAccounts_AreListedAndChosen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, _ := w.seedTool(t)
	key := w.newAPIKey(t, w.Tenant, connectors.RoleOwner)
	byAPI := w.apiClient(t, key)
	bearer := "bearer"
	if _, err := byAPI.UpdateConnector(t.Context(), c.Slug, client.ConnectorPatch{Auth: &client.AuthInput{Type: &bearer, Token: new("one")}}); err != nil {
		t.Fatal(err)
	}
	if err := byAPI.ChangeCredential(t.Context(), c.Slug, client.ChangeCredentialQuery{}, client.CredentialPatch{Name: new("work")}); err != nil {
		t.Fatal(err)
	}
	if err := byAPI.SetCredential(t.Context(), c.Slug, client.SecretPut{Token: new("two")}, client.SetCredentialQuery{Account: "home"}); err != nil {
		t.Fatal(err)
	}
	a := w.connect(t, key, newest, "accept")
	wantSyncs := func(chosen string) {
		t.Helper()
		var list listedAccounts
		a.callTool(t, "list_accounts", map[string]any{"connector": c.Slug}, &list)
		for _, one := range list.Items {
			if one.Syncs != (one.Name == chosen) || one.Status != "active" || one.Agent != "" {
				t.Errorf("%+v", one)
			}
		}
		if len(list.Items) != 2 {
			t.Errorf("%d accounts", len(list.Items))
		}
	}
	wantSyncs("work")
	a.callTool(t, "use_account_for_syncs", map[string]any{"connector": c.Slug, "account": "home"}, nil)
	wantSyncs("home")
	a.callTool(t, "grant_tools", map[string]any{"agent": "support", "connector": c.Slug, "tools": []string{"search"}, "account": "home"}, nil)
	if len(a.questions) != 1 || !strings.Contains(a.questions[0], `With the account "home".`) {
		t.Errorf("asked %q", a.questions)
	}
	grants, err := byAPI.ListAgentConnectors(t.Context(), "support", client.ListAgentConnectorsQuery{})
	if err != nil || len(grants.Items) != 1 || grants.Items[0].Account == nil || *grants.Items[0].Account != "home" {
		t.Errorf("%+v, %v", grants, err)
	}
	if code, says := a.callRefused(t, "use_account_for_syncs", map[string]any{"connector": c.Slug, "account": "nowhere"}); code == "" {
		t.Errorf("refused with %q, %q", code, says)
	}
}

func TestConnectAccount_NamesTheAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthOAuth2 })
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleOwner), newest, "accept")
	var link struct {
		URL string `json:"connect_url"`
	}
	a.callTool(t, "connect_account", map[string]any{"connector": c.Slug, "account": "home"}, &link)
	if len(a.questions) != 1 || !strings.Contains(a.questions[0], `replacing the current account "home"?`) {
		t.Errorf("asked %q", a.questions)
	}
	if !strings.HasPrefix(link.URL, w.url+"/connect/") {
		t.Errorf("the link is %q", link.URL)
	}
}
