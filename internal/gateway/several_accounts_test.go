package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/testclient"
)

// TestSeveralAccounts_EachIsAConnectorOfItsOwn uses tools, prompts, resources and completions of both accounts alternately.
func TestSeveralAccounts_EachIsAConnectorOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			up := newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a").withTools()
			c := b.newConnector(t, "one", up.url, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
			agent := b.newAutoAgent(t)
			b.bindAccounts(t, agent, c, "home", "work")
			token := b.Token(t, agent.ID)
			for range 2 {
				for _, account := range []string{"home", "work"} {
					up.authorizations()
					for address, n := range map[string]exposedNaming{
						"/mcp":                {prefix: "mcp_one_" + account + "__", prompt: "mcp_one_" + account + "__greet_me_2601d788", scheme: "patchbay+one." + account + ":", others: 1},
						"/mcp/one." + account: {prompt: "greet me"},
					} {
						useAll(t, connect(t, b.url+address, token, e), n)
					}
					for seen := range up.authorizations() {
						if seen != "Bearer of-"+account {
							t.Errorf("the server saw %q for the account %s", seen, account)
						}
					}
				}
			}
			session := connect(t, b.url+"/mcp", token, e)
			if says := session.InitializeResult(); says == nil || !strings.Contains(says.Instructions, "## one, account home (mcp_one_home__)") {
				t.Errorf("the instructions name no account: %+v", says)
			}
		})
	}
}

func TestSeveralAccounts_BareAddressNamesThem(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a")
	c := b.newConnector(t, "one", up.url, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	agent := b.newAutoAgent(t)
	b.bindAccounts(t, agent, c, "home", "work")
	token := b.Token(t, agent.ID)
	for path, want := range map[string]string{
		"/mcp/one":       b.url + "/mcp/one.home, " + b.url + "/mcp/one.work",
		"/mcp/one.other": "no access",
		"/mcp/one.":      "no access",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token.Reveal())
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		res, err := testclient.New(t).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusNotFound || !strings.Contains(string(body), want) {
			t.Errorf("%s: %d %s, %v; want 404 with %q", path, res.StatusCode, body, err, want)
		}
	}
}

// bindAccounts stores shared accounts of the names, and lets the agent use all of them.
func (b *testEnv) bindAccounts(t testing.TB, agent connectors.Agent, c connectors.Connector, names ...string) {
	t.Helper()
	for _, name := range names {
		sealed, err := connectors.Secret{Token: secret.Text("of-" + name)}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
			ConnectorID: c.ID, Name: name, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: sealed,
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Door().Agents().SetGrant(t.Context(), connectors.Grant{
		AgentID: agent.ID, ConnectorID: c.ID, AllTools: true, Prompts: connectors.PromptsListed, Resources: connectors.ResourcesListedTemplates, Accounts: names,
	}); err != nil {
		t.Fatal(err)
	}
}
