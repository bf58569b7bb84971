package accounts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

var trace = []oauth.TraceStep{
	{Step: connect.StepProbe, URL: "https://mcp.example.com/mcp", Status: 401, Read: "a challenge", Decided: "The challenge names the metadata."},
	{Step: oauth.StepResource, URL: "https://mcp.example.com/a", Status: 404, Read: "an error", Decided: "No document; trying the next."},
	{Step: oauth.StepResource, URL: "https://mcp.example.com/b", Status: 200, Read: "protected-resource metadata", Decided: "The resource's own document."},
	{Step: oauth.StepServer, URL: "https://as.example.com/c", Read: "no connection", Decided: "No document; trying the next."},
}

func TestDiagnosis_MarksDecisiveStepAndEnd(t *testing.T) {
	t.Parallel()
	have := diagnosisStages(t.Context(), connect.Diagnosis{Trace: trace, Problem: "The authorization server could not be reached."})
	step := func(i int, kind templates.StateKind, status string) templates.DiagnosisStep {
		return templates.DiagnosisStep{Kind: kind, URL: trace[i].URL, Status: status, Read: trace[i].Read, Decided: trace[i].Decided}
	}
	want := []templates.DiagnosisStage{
		{Name: "MCP server, without credentials", Steps: []templates.DiagnosisStep{step(0, templates.StateOK, "401 Unauthorized")}},
		{Name: "MCP server metadata", Steps: []templates.DiagnosisStep{
			step(1, templates.StateOff, "404 Not Found"), step(2, templates.StateOK, "200 OK"),
		}},
		{Name: "Authorization server metadata", Steps: []templates.DiagnosisStep{step(3, templates.StateBad, "")}},
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	if have := diagnosisStages(t.Context(), connect.Diagnosis{Problem: "No."}); have != nil {
		t.Errorf("of nothing: %+v", have)
	}
}

func TestDiagnosis_OutcomeFacts(t *testing.T) {
	t.Parallel()
	have := diagnosisFacts(t.Context(), connect.Diagnosis{
		Server: &oauth.Metadata{Issuer: "https://as.example.com", AuthorizationEndpoint: "https://login.example.com/a?b", TokenEndpoint: "https://as.example.com:8443/t", Assumed: true},
		Client: "Registered when an account is connected.", Behaviour: connectors.AuthListOpen,
	})
	want := []templates.Fact{
		{Label: "Authorization server", Value: "https://as.example.com", Mono: true},
		{Label: "Metadata", Value: "none; using default or configured endpoints"},
		{Label: "Authorization endpoint", Value: "login.example.com", Mono: true},
		{Label: "Token endpoint", Value: "as.example.com:8443", Mono: true},
		{Label: "Client", Value: "Registered when an account is connected."},
		{Label: "Resource", Value: "not sent"},
		{Label: "Server requires", Value: "credential for calls only"},
		{Label: "Scopes", Value: "server default"},
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	if have := diagnosisFacts(t.Context(), connect.Diagnosis{Behaviour: connectors.AuthUnknown}); have != nil {
		t.Errorf("nothing was found: %+v", have)
	}
}

func TestARowSaysHowAnAccountIs(t *testing.T) {
	t.Parallel()
	ends, renewed := noon.Add(50*time.Minute), noon.Add(-10*time.Minute)
	support := connectors.Agent{ID: connectors.AgentID{UUID: uuid.Must(uuid.NewV7())}, Slug: "support", Name: "Support"}
	c := connectors.Connector{Settings: connectors.Settings{Slug: "notes", Auth: connectors.Auth{Type: connectors.AuthOAuth2}, CredentialMode: connectors.CredentialPerAgent}}
	row := func(status connectors.CredentialStatus, because string, endsAt *time.Time) templates.CredentialRow {
		stored := connectors.Credential{
			Type: connectors.AuthOAuth2, AgentID: &support.ID, AgentSlug: support.Slug, AgentName: support.Name, Status: status, Account: "ann@example.com", Scopes: []string{"read"},
			ExpiresAt: &ends, RefreshedAt: &renewed, Error: because,
		}
		return credentialRows(t.Context(), c, []store.ConnectorAccount{{Granted: true, Credential: stored, EndsAt: endsAt}}, nil, noon)[0]
	}
	endsAt, renewedAt := shell.NewWhen(t.Context(), ends, noon), shell.NewWhen(t.Context(), renewed, noon)
	want := templates.CredentialRow{
		Key: "support", Owner: "support", First: true, Last: true, Who: "Support", Href: "/agents/support", Action: "/connectors/notes/agents/support", Stored: true,
		State: templates.State{Kind: templates.StateOK, Text: "Connected"}, Account: "ann@example.com", Scopes: []string{"read"},
		Facts: []templates.Fact{{Label: "Token expires", When: &endsAt}, {Label: "Last renewed", When: &renewedAt}, {Label: "Last used", When: &templates.When{Text: "never"}}},
	}
	if diff := cmp.Diff(want, row(connectors.CredentialActive, "", nil)); diff != "" {
		t.Error(diff)
	}
	for name, tc := range map[string]struct {
		row   templates.CredentialRow
		state templates.State
		error string
	}{
		"expires": {row(connectors.CredentialActive, "", &ends), templates.State{Kind: templates.StateWarn, Text: "Expires in 50 minutes"}, ""},
		"failing": {row(connectors.CredentialRefreshFailed, "It may work later.", nil), templates.State{Kind: templates.StateWarn, Text: "Refresh failed, retrying"}, "It may work later."},
		"revoked": {row(connectors.CredentialRevoked, "It was ended.", nil), templates.State{Kind: templates.StateBad, Text: "Needs reconnecting"}, "It was ended."},
		"expired": {row(connectors.CredentialExpired, "", nil), templates.State{Kind: templates.StateBad, Text: "Needs reconnecting"}, "The access has expired. Connect again."},
	} {
		if tc.row.State != tc.state || tc.row.Error != tc.error {
			t.Errorf("%s: %+v, %q", name, tc.row.State, tc.row.Error)
		}
	}
	for status, want := range map[connectors.CredentialStatus]string{connectors.CredentialActive: "Token expires", connectors.CredentialRevoked: "Last renewed"} {
		if have := row(status, "", nil).Facts[0].Label; have != want {
			t.Errorf("%s begins with %q, want %q", status, have, want)
		}
	}
	for granted, want := range map[bool]string{true: "Not connected", false: "Not granted"} {
		account := store.ConnectorAccount{Granted: granted, Credential: connectors.Credential{AgentID: &support.ID}}
		none := credentialRows(t.Context(), c, []store.ConnectorAccount{account}, nil, noon)[0]
		if none.Stored || none.State != (templates.State{Kind: templates.StateOff, Text: want}) {
			t.Errorf("none: %+v", none)
		}
	}
}

func TestCredentialRows_SyncsAreChosenAmongSeveral(t *testing.T) {
	t.Parallel()
	c := connectors.Connector{Settings: connectors.Settings{CredentialMode: connectors.CredentialPerAgent}, LastError: &connectors.SyncError{Code: "unauthorized"}}
	account := func(name string, status connectors.CredentialStatus) store.ConnectorAccount {
		return store.ConnectorAccount{Granted: true, Credential: connectors.Credential{AgentID: &connectors.AgentID{}, AgentSlug: name, Name: connectors.DefaultAccount, Status: status}}
	}
	only, missing, other := account("a", connectors.CredentialActive), account("b", ""), account("c", connectors.CredentialActive)
	for want, accounts := range map[bool][]store.ConnectorAccount{false: {only, missing}, true: {only, missing, other}} {
		if rows := credentialRows(t.Context(), c, accounts, nil, noon); rows[0].ChoosesSyncs != want {
			t.Errorf("of %d accounts: chosen for syncs is %v", len(accounts), rows[0].ChoosesSyncs)
		}
	}
}
