package clientconfig_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
)

func sampleConnector(slug string, change func(*connectors.Connector)) connectors.Connector {
	d := connectors.NewDraft()
	d.Slug, d.Name, d.URL = slug, strings.ToUpper(slug[:1])+slug[1:], "https://"+slug+".example/mcp"
	c := d.Connector()
	change(&c)
	return c
}

func sampleConnectors() []connectors.Connector {
	resource := ""
	return []connectors.Connector{
		sampleConnector("open", func(c *connectors.Connector) {
			c.Headers = map[string]string{"X-Team": "eu"}
			c.Description = "Of <all> & sundry"
		}),
		sampleConnector("bearer", func(c *connectors.Connector) { c.Auth.Type = connectors.AuthBearer }),
		sampleConnector("keyed", func(c *connectors.Connector) { c.Auth = connectors.Auth{Type: connectors.AuthAPIKey, Header: "X-Key"} }),
		sampleConnector("basic", func(c *connectors.Connector) {
			c.Auth.Type, c.CredentialMode = connectors.AuthBasic, connectors.CredentialPerAgent
		}),
		sampleConnector("account", func(c *connectors.Connector) {
			c.Auth.Type = connectors.AuthOAuth2
			c.OAuth = connectors.OAuthSettings{ClientID: "c-1", Scopes: []string{"read"}, Resource: &resource, AllowMissingPKCEMetadata: true}
		}),
		sampleConnector("machine", func(c *connectors.Connector) {
			c.Auth.Type, c.OAuth.ClientID, c.OAuth.Issuer = connectors.AuthClientCredentials, "c-2", "https://as.example/"
		}),
		sampleConnector("1st-plain", func(c *connectors.Connector) {
			c.Transport, c.Timeout, c.RetryAttempts, c.SyncInterval = connectors.TransportHTTP, time.Second, 0, 0
			c.CallsPerMinute = 7
			c.Enabled, c.ToolChanges, c.Listen, c.Auth.Type = false, connectors.ToolChangesAuto, connectors.ListenOff, connectors.AuthBearer
		}),
	}
}

func TestWrite_ReadsBack(t *testing.T) {
	t.Parallel()
	list := sampleConnectors()
	raw, err := json.Marshal(clientconfig.Write(clientconfig.Generic, list))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]connectors.Draft{}
	for _, c := range list {
		want[c.Slug] = connectors.DraftOf(c).Normalized()
	}
	got := map[string]connectors.Draft{}
	for _, e := range readEntries(t, string(raw)) {
		if len(e.Problems) > 0 || len(e.Notices) > 0 || !e.Secret.Empty() {
			t.Errorf("%s: %v %v", e.Key, e.Problems, e.Notices)
		}
		d := e.Draft().Normalized()
		if len(d.Headers) == 0 {
			d.Headers = nil
		}
		got[e.Slug] = d
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWrite_PlaceholdersOfEachClient(t *testing.T) {
	t.Parallel()
	list := sampleConnectors()[1:3]
	authorization := func(servers map[string]clientconfig.FileServer) string {
		return servers["bearer"].Headers["Authorization"] + " " + servers["keyed"].Headers["X-Key"]
	}
	for client, want := range map[clientconfig.Client]string{
		clientconfig.Generic: "Bearer ${BEARER_TOKEN} ${KEYED_KEY}",
		clientconfig.Claude:  "Bearer ${BEARER_TOKEN} ${KEYED_KEY}",
		clientconfig.Cursor:  "Bearer ${env:BEARER_TOKEN} ${env:KEYED_KEY}",
	} {
		if got := authorization(clientconfig.Write(client, list).MCPServers); got != want {
			t.Errorf("%s: %s", client, got)
		}
	}
	f := clientconfig.Write(clientconfig.VSCode, list)
	if got := authorization(f.Servers); got != "Bearer ${input:bearer-token} ${input:keyed-key}" || f.MCPServers != nil {
		t.Errorf("VS Code: %s", got)
	}
	inputs := []clientconfig.FileInput{
		{Type: "promptString", ID: "bearer-token", Description: "The token for Bearer", Password: true},
		{Type: "promptString", ID: "keyed-key", Description: "The key for Keyed", Password: true},
	}
	if diff := cmp.Diff(inputs, f.Inputs); diff != "" {
		t.Error(diff)
	}
}

func TestWrite_OnlyWhatClientCanStart(t *testing.T) {
	t.Parallel()
	f := clientconfig.Write(clientconfig.Claude, sampleConnectors())
	want := clientconfig.FileServer{Type: "http", URL: "https://open.example/mcp", Headers: map[string]string{"X-Team": "eu"}}
	if diff := cmp.Diff(want, f.MCPServers["open"]); diff != "" {
		t.Error(diff)
	}
	if _, there := f.MCPServers["1st-plain"]; there {
		t.Error("a disabled connector is handed out")
	}
	if got := f.MCPServers["account"].Headers; len(got) != 0 {
		t.Errorf("who signs in with OAuth gets %v", got)
	}
}

func TestWrite_NoSecretOfAddressOrHeader(t *testing.T) {
	t.Parallel()
	list := []connectors.Connector{sampleConnector("odd", func(c *connectors.Connector) {
		c.URL, c.Headers = "https://odd.example/mcp?team=eu&api_key=sekret", map[string]string{"X-Token": "sekret"}
	})}
	for _, client := range clientconfig.Clients {
		raw, err := json.Marshal(clientconfig.Write(client, list))
		if err != nil || strings.Contains(string(raw), "sekret") || !strings.Contains(string(raw), "team=eu") {
			t.Errorf("%s: %s %v", client, raw, err)
		}
	}
}

func TestWrite_NoSecretInArguments(t *testing.T) {
	t.Parallel()
	list := []connectors.Connector{
		sampleConnector("scheme", func(c *connectors.Connector) { c.Headers = map[string]string{"X-Upstream": "Bearer sekret"} }),
		sampleConnector("container", func(c *connectors.Connector) {
			c.Transport, c.URL = connectors.TransportStdio, ""
			c.Command = connectors.Command{Path: "/usr/bin/docker", Args: []string{"run", "-i", "-e", "GITHUB_TOKEN=sekret", "-e", "TEAM=eu", "mcp/github"}}
		}),
	}
	for _, client := range clientconfig.Clients {
		raw, err := json.Marshal(clientconfig.Write(client, list))
		if err != nil || strings.Contains(string(raw), "sekret") || !strings.Contains(string(raw), "GITHUB_TOKEN=$") || !strings.Contains(string(raw), "TEAM=eu") {
			t.Errorf("%s: %s %v", client, raw, err)
		}
	}
}

// A client's file is the same after an import and an export.
func TestWrite_RoundTripOfEachClient(t *testing.T) {
	t.Parallel()
	list := append(sampleConnectors(),
		sampleConnector("events", func(c *connectors.Connector) { c.Transport = connectors.TransportSSE }),
		sampleConnector("program", func(c *connectors.Connector) {
			c.Transport, c.URL, c.EnvNames = connectors.TransportStdio, "", []string{"LEVEL", "TEAM_TOKEN"}
			c.Command = connectors.Command{Path: "/usr/bin/program", Args: []string{"-v", "two words", "--team=eu"}, Dir: "/srv"}
		}),
	)
	for i := range list {
		list[i].Name = list[i].Slug // clients' files have no other name
	}
	for _, client := range clientconfig.Clients {
		want, err := clientconfig.Write(client, list).Text()
		if err != nil {
			t.Fatal(err)
		}
		var back []connectors.Connector
		for _, e := range readEntries(t, string(want)) {
			c := e.Draft().Connector()
			notices := 0
			if e.Slug == "program" {
				notices, c.EnvNames = 2, []string{"LEVEL", "TEAM_TOKEN"} // placeholders: a person sets them
			}
			if len(e.Problems) > 0 || len(e.Notices) != notices {
				t.Errorf("%s, %s: %v %v", client, e.Key, e.Problems, e.Notices)
			}
			back = append(back, c)
		}
		got, err := clientconfig.Write(client, back).Text()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: %s", client, diff)
		}
	}
}
