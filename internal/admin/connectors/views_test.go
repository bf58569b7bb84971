package connectors

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/toolsync"
	"patchbay/web/templates"
)

func TestConnectorRowSaysHowItIs(t *testing.T) {
	t.Parallel()
	synced := noon.Add(-14 * time.Minute)
	c := connectors.Connector{
		Status: connectors.StatusOK, ToolCount: 1204, ToolsLastSyncedAt: &synced,
		Settings: connectors.Settings{
			Slug: "linear", Name: "linear", URL: "https://mcp.linear.app/mcp", Auth: connectors.Auth{Type: connectors.AuthBearer},
			CredentialMode: connectors.CredentialPerAgent, Enabled: true,
		},
	}
	row := ConnectorRow(t.Context(), c, templates.Permissions{Sync: true, Manage: true}, "/connectors", noon)
	want := templates.ConnectorRow{
		ID: c.ID.String(), Name: "linear", Href: "/connectors/linear", URL: c.URL,
		State: templates.State{Kind: templates.StateOK, Text: "Connected"}, Credential: "Bearer · per agent", Tools: "1,204",
		LastSync: shell.NewWhen(t.Context(), synced, noon), Actions: true, CanSync: true, ReturnTo: "/connectors",
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}

	c.Status = connectors.StatusNeedsAuth
	c.LastError = &connectors.SyncError{Code: "unauthorized", Message: "The server refused the credential.", At: noon}
	row = ConnectorRow(t.Context(), c, templates.Permissions{Sync: true, Manage: true}, "", noon)
	if row.Reason != c.LastError.Message || row.State != (templates.State{Kind: templates.StateBad, Text: "Needs authorization"}) {
		t.Errorf("needs authorization: %+v", row)
	}
	if row.Repair != nil {
		t.Errorf("a secret is not connected: %+v", row.Repair)
	}
	c.Auth.Type = connectors.AuthOAuth2
	if row = ConnectorRow(t.Context(), c, templates.Permissions{Sync: true, Manage: true}, "", noon); row.Repair == nil || *row.Repair != (templates.Link{Text: "Reconnect", Href: "/connectors/linear/credentials"}) {
		t.Errorf("an account: %+v", row.Repair)
	}
	if row = ConnectorRow(t.Context(), c, templates.Permissions{Sync: true}, "", noon); row.Repair != nil {
		t.Errorf("a member is sent to what is refused: %+v", row.Repair)
	}
	c.Running = &connectors.SyncRunID{}
	if row = ConnectorRow(t.Context(), c, templates.Permissions{Sync: true, Manage: true}, "", noon); row.Reason != "" || row.State.Kind != templates.StateBusy {
		t.Errorf("running: %+v", row)
	}
	c.Enabled, c.Running, c.Status = false, nil, connectors.StatusDisabled
	if row = ConnectorRow(t.Context(), c, templates.Permissions{Sync: true, Manage: true}, "", noon); row.CanSync || !row.Actions {
		t.Errorf("a disabled connector offers what would be refused: %+v", row)
	}
}

func TestAttention_LinksToRepair(t *testing.T) {
	t.Parallel()
	c := connectors.Connector{
		Status: connectors.StatusNeedsAuth, LastError: &connectors.SyncError{Code: "unauthorized", Message: "The server refused the credential.", At: noon},
		Settings: connectors.Settings{Slug: "linear", Enabled: true, Auth: connectors.Auth{Type: connectors.AuthBearer}},
	}
	list := connectorAttention(t.Context(), c, []connectors.SyncRun{{State: connectors.SyncOK, Counts: connectors.SyncCounts{Quarantined: 2}}}, templates.Permissions{Manage: true}, noon)
	if list[0].Text != c.LastError.Message {
		t.Errorf("the sentence says what to do already: %q", list[0].Text)
	}
	if len(list) != 2 || list[0].Action.Href != "/connectors/linear/credentials" || list[1].Title != "2 malformed tools" {
		t.Errorf("%+v", list)
	}
	if list = connectorAttention(t.Context(), c, nil, templates.Permissions{}, noon); list[0].Action != nil {
		t.Error("a viewer is sent to a page that refuses them")
	}
	c.Auth.Type, c.LastError, c.Status = connectors.AuthOAuth2, nil, connectors.StatusNeverSynced
	list = connectorAttention(t.Context(), c, nil, templates.Permissions{Manage: true}, noon)
	if len(list) != 1 || *list[0].Action != (templates.Link{Text: "Connect", Href: "/connectors/linear/credentials#credential-shared"}) {
		t.Errorf("never connected: %+v", list)
	}
	c.LastError = &connectors.SyncError{Code: "credential_required", Message: "The access has ended.", At: noon}
	c.Enabled, c.Status = false, connectors.StatusDisabled
	if list = connectorAttention(t.Context(), c, nil, templates.Permissions{}, noon); len(list) != 1 || list[0].Title != "Disabled" {
		t.Errorf("%+v", list)
	}
}

func TestConnectorRow_NeverSyncedSaysWhenItFailed(t *testing.T) {
	t.Parallel()
	c := connectors.Connector{Status: connectors.StatusError, LastError: &connectors.SyncError{Code: "timeout", Message: "No answer.", At: noon.Add(-time.Minute)}}
	if row := ConnectorRow(t.Context(), c, templates.Permissions{}, "", noon); row.LastSync.Text != "failed 1 minute ago" || row.LastSync.ISO == "" {
		t.Errorf("%+v", row.LastSync)
	}
	c.ToolsLastSyncedAt = new(noon.Add(-time.Hour))
	if row := ConnectorRow(t.Context(), c, templates.Permissions{}, "", noon); row.LastSync.Text != "1 hour ago" {
		t.Errorf("synced before: %+v", row.LastSync)
	}
}

func TestAttention_OfAFailedSyncQuotesTheServer(t *testing.T) {
	t.Parallel()
	c := connectors.Connector{
		Status: connectors.StatusError, LastError: &connectors.SyncError{Code: "http_status", Message: "The server answered with HTTP 500.", At: noon},
		Settings: connectors.Settings{Slug: "linear", Enabled: true},
	}
	run := connectors.SyncRun{State: connectors.SyncFailed, Upstream: &connectors.Upstream{Said: "\nNo disk left.\nTrace: 1", Status: 500}}
	for _, can := range []templates.Permissions{{}, {Manage: true}} {
		list := connectorAttention(t.Context(), c, []connectors.SyncRun{run}, can, noon)
		if list[0].Said != "No disk left." || list[0].Text != c.LastError.Message || *list[0].Action != (templates.Link{Text: "Open sync run", Href: "/connectors/linear/runs/" + run.ID.String()}) {
			t.Errorf("%+v: %+v", can, list[0])
		}
	}
	c.LastError.Code = "unreachable"
	if list := connectorAttention(t.Context(), c, []connectors.SyncRun{run}, templates.Permissions{Manage: true}, noon); list[0].Action.Href != "/connectors/linear/settings" {
		t.Errorf("where the URL can be at fault: %+v", list[0].Action)
	}
}

func TestFailureOfATestIsExplained(t *testing.T) {
	t.Parallel()
	result := testResult(t.Context(), connectors.Draft{Settings: connectors.Settings{Name: "Linear"}}, toolsync.ProbeReport{Error: &fault.Error{
		Kind: fault.Upstream, Code: "rpc", Message: "The server refused the list.", Remote: &fault.Remote{Phase: "list", RPCCode: -32601},
	}})
	want := &templates.TestResult{Kind: templates.StateBad, Summary: "No connection", Failure: &templates.Failure{
		Sentence: "The server refused the list.", Phase: "while listing tools",
		Facts: []templates.Fact{{Label: "Code", Value: "rpc", Mono: true}, {Label: "JSON-RPC error", Value: "-32601", Mono: true}},
	}}
	if diff := cmp.Diff(want, result); diff != "" {
		t.Error(diff)
	}
}

func TestResultOfATestHasCapabilities(t *testing.T) {
	t.Parallel()
	result := testResult(t.Context(), connectors.Draft{Settings: connectors.Settings{Name: "Linear"}}, toolsync.ProbeReport{
		OK: true, Capabilities: []byte(`{"tools":{},"prompts":{}}`), Items: connectors.ItemCounts{Prompts: connectors.KindCounts{Total: 2}},
	})
	facts := map[string]string{}
	for _, f := range result.Facts {
		facts[f.Label] = f.Value
	}
	if facts["Capabilities"] == "" || !strings.Contains(facts["Also found"], "2 prompts") {
		t.Errorf("facts: %v", facts)
	}
}

func TestDraftFormAndFormDraftAreInverse(t *testing.T) {
	t.Parallel()
	d := connectors.Draft{
		Settings: connectors.Settings{Name: "Linear", Slug: "linear", Description: "Issues.", Transport: connectors.TransportHTTP, URL: "https://mcp.linear.app/mcp",
			Headers: map[string]string{"X-Team": "eu: west", "X-Area": "7"}, CredentialMode: connectors.CredentialPerAgent,
			Auth:    connectors.Auth{Type: connectors.AuthAPIKey, Header: "X-Key"},
			Timeout: 1500 * time.Millisecond, RetryAttempts: 2, Enabled: true, SyncInterval: time.Hour, ToolChanges: connectors.ToolChangesAuto, Listen: connectors.ListenOff},
	}
	sameFromForm(t, d)
	own, none := "https://mcp.linear.app", ""
	all := connectors.OAuthSettings{
		ClientID: "client", Scopes: []string{"read", "write"}, Issuer: "https://login.example.com",
		AuthorizationEndpoint: "https://login.example.com/a", TokenEndpoint: "https://login.example.com/t", Resource: &own,
		TokenEndpointAuthMethod: "none", AllowMissingPKCEMetadata: true, Algorithm: "ES256",
	}
	for _, auth := range []connectors.AuthType{connectors.AuthOAuth2, connectors.AuthClientCredentials, connectors.AuthPrivateKeyJWT} {
		for _, resource := range []*string{nil, &own, &none} {
			d.Auth, d.OAuth = connectors.Auth{Type: auth}, all.For(auth)
			d.OAuth.Resource = resource
			sameFromForm(t, d)
		}
	}
}

func sameFromForm(t *testing.T, d connectors.Draft) {
	t.Helper()
	f := shell.PostedForm{Values: map[string][]string{}}
	for name, value := range draftForm(d).Values {
		f.Values.Set(name, value)
	}
	before := connectors.NewDraft()
	before.ToolChanges = d.ToolChanges // no field of the form
	have, err := readDraft(t.Context(), f, before)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, have); diff != "" {
		t.Error(diff)
	}
}

func TestDraft_KeepsFieldsOutsideTheForm(t *testing.T) {
	t.Parallel()
	none := ""
	before := connectors.NewDraft()
	before.Auth.Type = connectors.AuthOAuth2
	before.OAuth = connectors.OAuthSettings{ClientID: "client", Scopes: []string{"read"}, Resource: &none, AllowMissingPKCEMetadata: true}
	for name, tc := range map[string]struct {
		fields map[string]string
		want   connectors.OAuthSettings
	}{
		"no field of them":         {map[string]string{"name": "Linear"}, before.OAuth},
		"an emptied field":         {map[string]string{"auth.client_id": ""}, connectors.OAuthSettings{Scopes: []string{"read"}, Resource: &none, AllowMissingPKCEMetadata: true}},
		"boxes without their tick": {map[string]string{"auth.resource": "", "auth.authorization_endpoint": ""}, connectors.OAuthSettings{ClientID: "client", Scopes: []string{"read"}}},
		"another type":             {map[string]string{"auth.type": "bearer", "auth.client_id": "client"}, connectors.OAuthSettings{}},
		"a machine":                {map[string]string{"auth.type": "client_credentials", "auth.scopes": " a\n b a "}, connectors.OAuthSettings{ClientID: "client", Scopes: []string{"a", "b", "a"}, Resource: &none}},
	} {
		f := shell.PostedForm{Values: map[string][]string{}}
		for field, value := range tc.fields {
			f.Values.Set(field, value)
		}
		have, err := readDraft(t.Context(), f, before)
		if diff := cmp.Diff(tc.want, have.OAuth); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	both := shell.PostedForm{Values: map[string][]string{"auth.resource": {"https://x.example"}, "auth.no_resource": {"true"}}}
	if _, err := readDraft(t.Context(), both, before); !fault.Is(err, fault.Invalid) {
		t.Errorf("a resource and none: %v", err)
	}
}

func TestASecretIsReadByItsType(t *testing.T) {
	t.Parallel()
	f := shell.PostedForm{Values: map[string][]string{}}
	for _, name := range []string{"token", "key", "username", "password", "client_id", "client_secret", "private_key"} {
		f.Values.Set(name, name)
		f.Values.Set("auth."+name, "auth."+name)
	}
	for auth, want := range map[connectors.AuthType][2]connectors.Secret{
		connectors.AuthNone:              {},
		connectors.AuthBearer:            {{Token: "token"}, {Token: "auth.token"}},
		connectors.AuthOAuth2:            {{ClientSecret: "client_secret"}, {ClientSecret: "auth.client_secret"}},
		connectors.AuthClientCredentials: {{ClientID: "client_id", ClientSecret: "client_secret"}, {ClientSecret: "auth.client_secret"}},
		connectors.AuthPrivateKeyJWT:     {{ClientID: "client_id", PrivateKey: "private_key"}, {PrivateKey: "auth.private_key"}},
	} {
		if have := [2]connectors.Secret{ReadSecrets(f, auth, ""), ReadSecrets(f, auth, "auth.")}; have != want {
			t.Errorf("%s: another secret than its fields hold", auth)
		}
	}
	shown := f.ToForm(nil)
	for name := range shown.Values {
		if field := strings.TrimPrefix(name, "auth."); field != "username" && field != "client_id" {
			t.Errorf("%s is sent back", name)
		}
	}
}

// The row and the head of an API show where calls go, not where its document is.
func TestConnectorRow_ShowsTheServerOfAnAPI(t *testing.T) {
	t.Parallel()
	c := connectors.Connector{Settings: connectors.Settings{Slug: "notes", Name: "Notes", URL: "https://api.example.com/openapi.json", Transport: connectors.TransportAPI}}
	for server, want := range map[string]string{"": "https://api.example.com", "https://api.example.org/v1": "https://api.example.org/v1"} {
		c.ServerURL = server
		row := ConnectorRow(t.Context(), c, templates.Permissions{}, "", noon)
		head := ConnectorHead(t.Context(), c, templates.TabOverview, templates.Mark{})
		if row.URL != want || head.URL != want {
			t.Errorf("the row has %s, the head %s, want %s", row.URL, head.URL, want)
		}
	}
	c.ServerURL, c.URL = "", ""
	if row := ConnectorRow(t.Context(), c, templates.Permissions{}, "", noon); row.URL != "" {
		t.Errorf("without a URL the row has %s", row.URL)
	}
}
