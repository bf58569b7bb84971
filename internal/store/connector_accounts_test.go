package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// accountNames are the agents' names of a list with their states.
func accountNames(list store.List[store.ConnectorAccount]) []string {
	names := []string{}
	for _, a := range list.Items {
		names = append(names, a.Credential.AgentName+":"+string(a.Credential.Status))
	}
	return names
}

func TestConnectorAccounts_FiltersByStateNameAndOwner(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	oauth := func(d *connectors.Draft) {
		d.Auth.Type, d.CredentialMode = connectors.AuthOAuth2, connectors.CredentialPerAgent
	}
	c, elsewhere := w.Connector(t, oauth), w.Connector(t, oauth)
	ada := w.Member(t, connectors.RoleMember)
	agents := map[string]connectors.Agent{}
	for _, name := range []string{"Active", "Ended", "Ending", "Missing", "Own", "Stranger"} {
		agents[name] = w.Agent(t, func(a *connectors.Agent) { a.Name = name })
		if name != "Stranger" {
			w.Grant(t, agents[name].ID, c.ID)
		}
		w.Grant(t, agents[name].ID, elsewhere.ID)
	}
	if err := w.Door().Agents().MakePersonal(t.Context(), ada.UserID, agents["Own"].ID); err != nil {
		t.Fatal(err)
	}
	for name, life := range map[string]time.Duration{"Active": 100 * time.Hour, "Ending": time.Hour, "Ended": -time.Hour} {
		err := w.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
			ConnectorID: c.ID, AgentID: new(agents[name].ID), Origin: connectors.Origin(c.URL), Account: name + "@example.com",
			GrantTokens: store.GrantTokens{AccessToken: "access", ExpiresAt: new(time.Now().Add(life)), Scopes: []string{"read"}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		filter store.ConnectorAccountFilter
		want   []string
	}{
		{store.ConnectorAccountFilter{}, []string{"Active:active", "Ended:expired", "Ending:active", "Missing:", "Own:", "Stranger:"}},
		{store.ConnectorAccountFilter{State: store.AccountMissing}, []string{"Missing:", "Own:"}},
		{store.ConnectorAccountFilter{State: store.AccountStored}, []string{"Active:active", "Ended:expired", "Ending:active"}},
		{store.ConnectorAccountFilter{State: store.AccountConnected}, []string{"Active:active", "Ending:active"}},
		{store.ConnectorAccountFilter{State: store.AccountAttention, EndsSoon: 3 * time.Hour}, []string{"Ended:expired", "Ending:active"}},
		{store.ConnectorAccountFilter{State: store.AccountAttention}, []string{"Ended:expired"}},
		{store.ConnectorAccountFilter{Query: "ING"}, []string{"Ending:active", "Missing:"}},
		{store.ConnectorAccountFilter{Query: "%"}, []string{}},
		{store.ConnectorAccountFilter{Person: &ada.UserID}, []string{"Own:"}},
		{store.ConnectorAccountFilter{Person: &ada.UserID, State: store.AccountConnected}, []string{}},
	} {
		tc.filter.Connector = c.ID
		list, err := w.Door().Accounts().ConnectorAccounts(t.Context(), tc.filter)
		if diff := cmp.Diff(tc.want, accountNames(list)); diff != "" || err != nil {
			t.Errorf("%+v: %s %v", tc.filter, diff, err)
		}
		if n, err := w.Door().Lists().ConnectorAccounts(t.Context(), tc.filter); n != len(tc.want) || err != nil {
			t.Errorf("%+v: counted %d, %v", tc.filter, n, err)
		}
		for _, one := range list.Items {
			if want := one.Credential.AgentName + "@example.com"; one.IsStored() && one.Credential.Account != want {
				t.Errorf("%+v: the account is %q, want %q", tc.filter, one.Credential.Account, want)
			}
		}
	}
	if n, err := w.Door().Accounts().CountMissing(t.Context(), c.ID); n != 2 || err != nil {
		t.Errorf("%d are missing, %v", n, err)
	}
}

func TestConnectorAccounts_PagesHaveEveryAgentOnce(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, shared := w.Connector(t, perAgentBearer), w.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	var want, have []string
	for i := range 7 {
		a := w.Agent(t, func(a *connectors.Agent) { a.Name = fmt.Sprintf("Same %d", i/3) })
		w.Grant(t, a.ID, c.ID)
		w.Grant(t, a.ID, shared.ID)
		want = append(want, a.Name+":")
	}
	filter := store.ConnectorAccountFilter{Connector: c.ID, State: store.AccountMissing, Page: store.Page{Limit: 3}}
	for {
		list, err := w.Door().Accounts().ConnectorAccounts(t.Context(), filter)
		if err != nil || len(list.Items) > 3 {
			t.Fatal(list, err)
		}
		have = append(have, accountNames(list)...)
		if filter.Page.Cursor = list.Next; list.Next == "" {
			break
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	list, err := w.Door().Accounts().ConnectorAccounts(t.Context(), store.ConnectorAccountFilter{Connector: shared.ID})
	if n, countErr := w.Door().Accounts().CountMissing(t.Context(), shared.ID); len(list.Items) != 0 || n != 0 || err != nil || countErr != nil {
		t.Errorf("a shared credential: %d rows, %d missing, %v, %v", len(list.Items), n, err, countErr)
	}
}
