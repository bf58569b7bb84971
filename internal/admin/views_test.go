package admin

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/toolsync"
	"patchbay/web/templates"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestTimesAreWords(t *testing.T) {
	t.Parallel()
	for ago, want := range map[time.Duration]string{
		0:                     "just now",
		59 * time.Second:      "59 seconds ago",
		time.Minute:           "1 minute ago",
		119 * time.Minute:     "1 hour ago",
		25 * time.Hour:        "yesterday",
		5 * 24 * time.Hour:    "5 days ago",
		40 * 24 * time.Hour:   "12 Oct 2026",
		-3 * time.Second:      "just now",
		-30 * time.Second:     "in 1 minute",
		-90 * time.Minute:     "in 1 hour",
		-72 * time.Hour:       "in 3 days",
		-400 * 24 * time.Hour: "on 26 Dec 2027",
	} {
		if have := newWhen(t.Context(), noon.Add(-ago), noon).Text; have != want {
			t.Errorf("%v ago: %q, want %q", ago, have, want)
		}
	}
	want := templates.When{Text: "2 minutes ago", Title: "21 Nov 2026, 11:58:00 UTC", ISO: "2026-11-21T11:58:00Z"}
	if diff := cmp.Diff(want, newWhen(t.Context(), noon.Add(-2*time.Minute), noon)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(templates.When{Text: "never"}, newWhenOrNever(t.Context(), nil, noon)); diff != "" {
		t.Error(diff)
	}
}

func TestDurationsAndIntervalsAreWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		500 * time.Microsecond: "under 1 ms", 340 * time.Millisecond: "340 ms", 1234 * time.Millisecond: "1.2 s", 125 * time.Second: "2 min 5 s",
	} {
		if have := formatDuration(t.Context(), d); have != want {
			t.Errorf("%v: %q, want %q", d, have, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "never by itself", 15 * time.Minute: "every 15 minutes", time.Hour: "every hour", 48 * time.Hour: "every 2 days", 90 * time.Second: "every 90 seconds",
	} {
		if have := formatInterval(t.Context(), d); have != want {
			t.Errorf("%v: %q, want %q", d, have, want)
		}
	}
}

func TestNumbersAreGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1204: "1,204", 1234567: "1,234,567", -32601: "-32,601"} {
		if have := i18n.Number(t.Context(), n); have != want {
			t.Errorf("%d: %q, want %q", n, have, want)
		}
	}
	for want, p := range map[string]templates.Pager{
		"50 tools": {}, "50+ tools": {Next: "/tools?cursor=a"}, "50 tools on this page": {First: "/tools", Next: "/tools?cursor=b"},
	} {
		if have := formatCount(t.Context(), 50, p, "%s tool", "%s tools"); have != want {
			t.Errorf("%q, want %q", have, want)
		}
	}
}

func TestConnectorRowSaysHowItIs(t *testing.T) {
	t.Parallel()
	synced := noon.Add(-14 * time.Minute)
	c := connectors.Connector{
		Slug: "linear", Name: "linear", URL: "https://mcp.linear.app/mcp", Status: connectors.StatusOK, ToolCount: 1204,
		Auth: connectors.Auth{Type: connectors.AuthBearer}, CredentialMode: connectors.CredentialPerAgent, ToolsLastSyncedAt: &synced,
		Enabled: true,
	}
	row := connectorRow(t.Context(), c, templates.Permissions{Sync: true, Manage: true}, "/connectors", noon)
	want := templates.ConnectorRow{
		ID: c.ID.String(), Name: "linear", Href: "/connectors/linear", Initial: "L", URL: c.URL,
		State: templates.State{Kind: templates.StateOK, Text: "Connected"}, Credential: "Bearer · per agent", Tools: "1,204",
		LastSync: newWhen(t.Context(), synced, noon), Actions: true, CanSync: true, ReturnTo: "/connectors",
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}

	c.Status = connectors.StatusNeedsAuth
	c.LastError = &connectors.SyncError{Code: "unauthorized", Message: "The server refused the credential.", At: noon}
	row = connectorRow(t.Context(), c, templates.Permissions{Sync: true, Manage: true}, "", noon)
	if row.Reason != c.LastError.Message || row.State != (templates.State{Kind: templates.StateBad, Text: "Needs authorization"}) {
		t.Errorf("needs authorization: %+v", row)
	}
	if row.Repair != nil {
		t.Errorf("a secret is not connected: %+v", row.Repair)
	}
	c.Auth.Type = connectors.AuthOAuth2
	if row = connectorRow(t.Context(), c, templates.Permissions{Sync: true, Manage: true}, "", noon); row.Repair == nil || *row.Repair != (templates.Link{Text: "Reconnect", Href: "/connectors/linear/credentials"}) {
		t.Errorf("an account: %+v", row.Repair)
	}
	if row = connectorRow(t.Context(), c, templates.Permissions{Sync: true}, "", noon); row.Repair != nil {
		t.Errorf("a member is sent to what is refused: %+v", row.Repair)
	}
	c.Running = &connectors.SyncRunID{}
	if row = connectorRow(t.Context(), c, templates.Permissions{Sync: true, Manage: true}, "", noon); row.Reason != "" || row.State.Kind != templates.StateBusy {
		t.Errorf("running: %+v", row)
	}
	c.Enabled, c.Running, c.Status = false, nil, connectors.StatusDisabled
	if row = connectorRow(t.Context(), c, templates.Permissions{Sync: true, Manage: true}, "", noon); row.CanSync || !row.Actions {
		t.Errorf("a disabled connector offers what would be refused: %+v", row)
	}
}

func TestAttention_LinksToRepair(t *testing.T) {
	t.Parallel()
	c := connectors.Connector{
		Slug: "linear", Status: connectors.StatusNeedsAuth, Enabled: true, Auth: connectors.Auth{Type: connectors.AuthBearer},
		LastError: &connectors.SyncError{Code: "unauthorized", Message: "The server refused the credential.", At: noon},
	}
	list := connectorAttention(t.Context(), c, 2, templates.Permissions{Manage: true}, noon)
	if list[0].Text != c.LastError.Message {
		t.Errorf("the sentence says what to do already: %q", list[0].Text)
	}
	if len(list) != 2 || list[0].Action.Href != "/connectors/linear/credentials" || list[1].Title != "2 malformed tools" {
		t.Errorf("%+v", list)
	}
	if list = connectorAttention(t.Context(), c, 0, templates.Permissions{}, noon); list[0].Action != nil {
		t.Error("a viewer is sent to a page that refuses them")
	}
	c.Auth.Type, c.LastError, c.Status = connectors.AuthOAuth2, nil, connectors.StatusNeverSynced
	list = connectorAttention(t.Context(), c, 0, templates.Permissions{Manage: true}, noon)
	if len(list) != 1 || *list[0].Action != (templates.Link{Text: "Connect", Href: "/connectors/linear/credentials#credential-shared"}) {
		t.Errorf("never connected: %+v", list)
	}
	c.LastError = &connectors.SyncError{Code: "credential_required", Message: "The access has ended.", At: noon}
	c.Enabled, c.Status = false, connectors.StatusDisabled
	if list = connectorAttention(t.Context(), c, 0, templates.Permissions{}, noon); len(list) != 1 || list[0].Title != "Disabled" {
		t.Errorf("%+v", list)
	}
}

const issueTool = `{"name":"create_issue","annotations":{"title":"Create an issue","destructiveHint":true,"openWorldHint":true},
  "description":"Creates an issue.\u003cb\u003e","inputSchema":{"type":"object","required":["title"],"properties":{
    "title":{"type":"string","description":"In a few words","maxLength":200},
    "priority":{"type":["integer","null"],"minimum":0,"maximum":9007199254740993,"default":2},
    "state":{"enum":["open",1,null]},
    "filter":{"type":"object","properties":{"labels":{"type":"array","items":{"type":"string"}}}},
    "steps":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"}}}},
    "odd":true,"worse":{"type":7,"description":9,"required":"x","properties":[]}}}}`

func TestToolViewReadsTheDefinition(t *testing.T) {
	t.Parallel()
	v := definitionView(t.Context(), connectors.Definition{Name: "create_issue", Raw: []byte(issueTool)}, listDetail)
	if v.Title != "Create an issue" || v.Description != "Creates an issue.<b>" {
		t.Errorf("title %q, description %q", v.Title, v.Description)
	}
	var badges []string
	for _, b := range v.Badges {
		badges = append(badges, b.Text)
	}
	if diff := cmp.Diff([]string{"destructive", "open world"}, badges); diff != "" {
		t.Error(diff)
	}
	want := []templates.Param{
		{Name: "title", Type: "string", Required: true, Description: "In a few words"},
		{Name: "priority", Type: "integer or null", Notes: []string{"default 2", "0–9007199254740993"}},
		{Name: "state", Notes: []string{"one of open, 1, null"}},
		{Name: "filter", Type: "object"},
		{Name: "filter.labels", Type: "array of string"},
		{Name: "steps", Type: "array of object"},
		{Name: "steps[].text", Type: "string"},
		{Name: "odd"},
		{Name: "worse"},
	}
	if diff := cmp.Diff(want, v.Params); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(v.Raw, `"maximum": 9007199254740993`) || strings.Index(v.Raw, "title") > strings.Index(v.Raw, "priority") {
		t.Errorf("numbers or order changed:\n%s", v.Raw)
	}
}

func TestToolViewStandsAnyDefinition(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 50) + `{}` + strings.Repeat(`}}`, 50)
	wide := `{"properties":{` + strings.TrimSuffix(strings.Repeat(`"p":{},`, 5000), ",") + `}}`
	for _, raw := range []string{
		``, `null`, `[]`, `{}`, `{"inputSchema":7}`, `{"title":1,"description":[],"annotations":"x"}`, "{\"name\":\"\xff\"}",
		`{"inputSchema":` + deep + `}`, `{"inputSchema":` + wide + `}`,
	} {
		v := definitionView(t.Context(), connectors.Definition{Name: "\xff", Raw: []byte(raw)}, pageDetail)
		if len(v.Params) > maxParams || v.Name != "\uFFFD" {
			t.Errorf("%.40q: %d parameters, name %q", raw, len(v.Params), v.Name)
		}
	}
}

// A definition of 8 MiB may become a hundred times as large when escaped or indented.
func TestHugeDefinitionsMakeNoHugePages(t *testing.T) {
	t.Parallel()
	quotes := strings.Repeat(`\"`, 4<<20)
	name := strings.Repeat("n", 1<<20)
	for what, raw := range map[string]string{
		"a long text":    `{"title":"` + quotes + `","description":"` + quotes + `"}`,
		"deep":           `{"x":` + strings.Repeat("[", 490) + strings.Repeat("0,", 4<<20) + "0" + strings.Repeat("]", 490) + `}`,
		"deep and small": strings.Repeat("[", 490) + strings.Repeat("0,", 5000) + "0" + strings.Repeat("]", 490),
		"long parameters": `{"inputSchema":{"required":["` + name + `"],"properties":{"` + name + `":{"type":"` + name + `","description":"` + name +
			`","default":"` + name + `"}}}}`,
	} {
		v := definitionView(t.Context(), connectors.Definition{Name: "x", Raw: []byte(raw)}, listDetail)
		size := len(v.Title) + len(v.Description) + len(v.Raw)
		for _, p := range v.Params {
			size += len(p.Name) + len(p.Type) + len(p.Description) + len(strings.Join(p.Notes, ""))
		}
		if size > 5*maxListJSON {
			t.Errorf("%s: %d bytes are shown", what, size)
		}
		if len(raw) > maxListJSON && !strings.Contains(v.Raw, "the API gives all of it") {
			t.Errorf("%s: nothing says that the definition is cut", what)
		}
	}
}

func TestHiddenCharactersAreShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"safe":                       "safe",
		"two\r\n\tlines":             "two\r\n\tlines",
		"👩‍🚀":                        "👩‍🚀",
		"delete\u202Eetirw":          `delete\u202eetirw`,
		"zero\u200Bwidth":            `zero\u200bwidth`,
		"tag\U000E0041":              `tag\udb40\udc41`,
		"bell\a and \x1b[31m colour": `bell\u0007 and \u001b[31m colour`,
		"\xff":                       "\uFFFD",
	} {
		if have := cleanText(text); have != want {
			t.Errorf("%q: %q, want %q", text, have, want)
		}
	}
}

func TestFailureOfATestIsExplained(t *testing.T) {
	t.Parallel()
	result := testResult(t.Context(), "Linear", toolsync.ProbeReport{Error: &fault.Error{
		Kind: fault.Upstream, Code: "rpc", Message: "The server refused the list.", Remote: &fault.Remote{Phase: "list", RPCCode: -32601},
	}})
	want := &templates.TestResult{Failure: &templates.Failure{
		Sentence: "The server refused the list.", Phase: "while reading the tools",
		Facts: []templates.Fact{{Label: "Code", Value: "rpc", Mono: true}, {Label: "JSON-RPC error", Value: "-32601", Mono: true}},
	}}
	if diff := cmp.Diff(want, result); diff != "" {
		t.Error(diff)
	}
}

func TestDraftFormAndFormDraftAreInverse(t *testing.T) {
	t.Parallel()
	d := connectors.Draft{
		Name: "Linear", Slug: "linear", Description: "Issues.", Transport: connectors.TransportHTTP, URL: "https://mcp.linear.app/mcp",
		Headers: map[string]string{"X-Team": "eu: west", "X-Area": "7"}, CredentialMode: connectors.CredentialPerAgent,
		Auth:    connectors.Auth{Type: connectors.AuthAPIKey, Header: "X-Key"},
		Timeout: 1500 * time.Millisecond, RetryAttempts: 2, Enabled: true, SyncInterval: time.Hour, ToolChanges: connectors.ToolChangesAuto, Listen: connectors.ListenOff,
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
	f := postedForm{values: map[string][]string{}}
	for name, value := range draftForm(d).Values {
		f.values.Set(name, value)
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
		f := postedForm{values: map[string][]string{}}
		for field, value := range tc.fields {
			f.values.Set(field, value)
		}
		have, err := readDraft(t.Context(), f, before)
		if diff := cmp.Diff(tc.want, have.OAuth); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	both := postedForm{values: map[string][]string{"auth.resource": {"https://x.example"}, "auth.no_resource": {"true"}}}
	if _, err := readDraft(t.Context(), both, before); !fault.Is(err, fault.Invalid) {
		t.Errorf("a resource and none: %v", err)
	}
}

func TestASecretIsReadByItsType(t *testing.T) {
	t.Parallel()
	f := postedForm{values: map[string][]string{}}
	for _, name := range []string{"token", "key", "username", "password", "client_id", "client_secret", "private_key"} {
		f.values.Set(name, name)
		f.values.Set("auth."+name, "auth."+name)
	}
	for auth, want := range map[connectors.AuthType][2]connectors.Secret{
		connectors.AuthNone:              {},
		connectors.AuthBearer:            {{Token: "token"}, {Token: "auth.token"}},
		connectors.AuthOAuth2:            {{ClientSecret: "client_secret"}, {ClientSecret: "auth.client_secret"}},
		connectors.AuthClientCredentials: {{ClientID: "client_id", ClientSecret: "client_secret"}, {ClientSecret: "auth.client_secret"}},
		connectors.AuthPrivateKeyJWT:     {{ClientID: "client_id", PrivateKey: "private_key"}, {PrivateKey: "auth.private_key"}},
	} {
		if have := [2]connectors.Secret{readSecrets(f, auth, ""), readSecrets(f, auth, "auth.")}; have != want {
			t.Errorf("%s: another secret than its fields hold", auth)
		}
	}
	shown := f.toForm(nil)
	for name := range shown.Values {
		if field := strings.TrimPrefix(name, "auth."); field != "username" && field != "client_id" {
			t.Errorf("%s is sent back", name)
		}
	}
}

func TestEventsAreFramedLineByLine(t *testing.T) {
	t.Parallel()
	if have := string(encodeEvent([]byte("<a>\r\n<b>"))); have != "data: <a>\ndata: <b>\n\n" {
		t.Errorf("%q", have)
	}
}
