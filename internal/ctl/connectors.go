package ctl

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"patchbay/client"
)

type connectorCommands struct {
	List       connectorList       `cmd:"" help:"List connectors."`
	Get        connectorGet        `cmd:"" help:"Show a connector as JSON."`
	Add        connectorAdd        `cmd:"" help:"Add a connector."`
	AddAPI     connectorAddAPI     `cmd:"" name:"add-api" help:"Add a connector to an HTTP API, by its OpenAPI document."`
	Operations connectorOperations `cmd:"" help:"List the operations of an HTTP API, and pick those that become tools."`
	Endpoints  connectorEndpoints  `cmd:"" help:"List the endpoints of an HTTP API."`
	Delete     connectorDelete     `cmd:"" help:"Delete a connector with its credentials and tools."`
	Sync       connectorSync       `cmd:"" help:"Sync one connector or all."`
	CancelSync connectorCancelSync `cmd:"" help:"Cancel a connector's running and queued syncs."`
	Ping       connectorPing       `cmd:"" help:"Ping a connector's server."`
	Tools      connectorTools      `cmd:"" help:"List a connector's tools."`
	Prompts    connectorPrompts    `cmd:"" help:"List a connector's prompts."`
	Resources  connectorResources  `cmd:"" help:"List a connector's resources and resource templates."`
	Skills     connectorSkills     `cmd:"" help:"List the skills that a server offers."`
	Try        connectorTry        `cmd:"" help:"Call a tool as yourself, without an agent."`
	Send       connectorSend       `cmd:"" help:"Send a request outside MCP that the connector allows."`
	Test       connectorTest       `cmd:"" help:"Test a server without adding it."`

	TestAPI     connectorTestAPI     `cmd:"" name:"test-api" help:"Read the document of an HTTP API without adding it."`
	Credentials connectorCredentials `cmd:"" help:"List a connector's credentials, without secrets."`

	SetCredential  connectorSetCredential  `cmd:"" name:"set-credential" help:"Set the secret of a connector or an agent, or of one of its accounts."`
	Connect        connectorConnect        `cmd:"" help:"Create a link with which an account's owner connects it."`
	ChangeAccount  connectorChangeAccount  `cmd:"" name:"change-account" help:"Rename an account, or choose it for syncs."`
	DeleteAccount  connectorDeleteAccount  `cmd:"" name:"delete-account" help:"Delete an account or credential, and revoke it at its server."`
	AddEndpoint    connectorAddEndpoint    `cmd:"" name:"add-endpoint" help:"Add an endpoint to an HTTP API, from a curl command or as JSON."`
	DeleteEndpoint connectorDeleteEndpoint `cmd:"" name:"delete-endpoint" help:"Delete an endpoint of an HTTP API."`
}

type connectorRef struct {
	Connector string `arg:"" help:"The connector's slug or id."`
}

type connectorList struct {
	Query  string `short:"q" placeholder:"TEXT" help:"Filter by part of the name, slug or URL."`
	Status string `placeholder:"STATUS" help:"Filter by status: never_synced, ok, error, needs_auth or disabled."`
	Tag    string `placeholder:"TAG" help:"Filter by tag."`
}

// Run prints a row for each connector.
func (c connectorList) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	list, err := collectPages(api.AllConnectors(ctx, client.ListConnectorsQuery{Q: c.Query, Status: c.Status, Tag: c.Tag, Limit: pageSize}))
	if err != nil {
		return err
	}
	t := newTable("CONNECTOR", "STATUS", "TOOLS", "SYNCED", "TAGS", "ADDRESS")
	for _, c := range list {
		t.addRow(c.Slug, c.Status, c.ToolCount, c.ToolsLastSyncedAt, c.Tags, c.URL)
	}
	return s.printValue(list, t)
}

// pageSize is the API's maximum.
const pageSize = 200

type connectorGet struct{ connectorRef }

// Run prints the connector as JSON: it does not fit a row.
func (c connectorGet) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	connector, err := api.GetConnector(ctx, c.Connector)
	if err != nil {
		return err
	}
	return s.printJSON(connector)
}

type serverFlags struct {
	URL string `arg:"" help:"The server's URL."`
	authFlags
}

type authFlags struct {
	Auth          string   `enum:"none,bearer,api_key,basic,oauth2,client_credentials" default:"none" help:"none, bearer, api_key, basic, oauth2 or client_credentials (${default})."`
	Secret        string   `placeholder:"@FILE|-" help:"The token, key, password or client secret: @FILE for a file, - for standard input."`
	WorkloadToken string   `name:"workload-token" placeholder:"NAME" help:"For client_credentials, in place of a secret: a token that the operator offers."`
	Header        string   `placeholder:"NAME" help:"The header for api_key."`
	Username      string   `placeholder:"NAME" help:"The username for basic."`
	ClientID      string   `name:"client-id" placeholder:"ID" help:"The client for client_credentials and oauth2."`
	Issuer        string   `placeholder:"URL" help:"The authorization server for client_credentials and oauth2."`
	TokenEndpoint string   `name:"token-endpoint" placeholder:"URL" help:"The token endpoint, if the authorization server has no metadata."`
	Scope         []string `sep:"none" placeholder:"SCOPE" help:"A scope to request. May be repeated."`
}

func (f serverFlags) newConnector(s *session, name string) (client.ConnectorCreate, error) {
	return f.setAuth(s, client.ConnectorCreate{Name: name, URL: &f.URL})
}

// setAuth returns the draft with its authentication.
func (f authFlags) setAuth(s *session, draft client.ConnectorCreate) (client.ConnectorCreate, error) {
	draft.Auth = &client.AuthInput{Type: &f.Auth, Scopes: f.Scope}
	for flag, field := range map[*string]**string{
		&f.Header: &draft.Auth.Header, &f.Username: &draft.Auth.Username, &f.ClientID: &draft.Auth.ClientID, &f.Issuer: &draft.Auth.Issuer, &f.TokenEndpoint: &draft.Auth.TokenEndpoint,
		&f.WorkloadToken: &draft.Auth.WorkloadToken,
	} {
		if *flag != "" {
			*field = flag
		}
	}
	if f.Secret == "" {
		return draft, nil
	}
	secret, err := s.readSecret(f.Secret)
	if err != nil {
		return draft, err
	}
	switch {
	case f.Auth == "bearer":
		draft.Auth.Token = &secret
	case f.Auth == "api_key":
		draft.Auth.Key = &secret
	case f.Auth == "basic":
		draft.Auth.Password = &secret
	case f.Auth == "client_credentials", f.Auth == "oauth2" && f.ClientID != "":
		draft.Auth.ClientSecret = &secret
	default:
		return draft, fmt.Errorf("--auth %s takes no secret", f.Auth)
	}
	return draft, nil
}

// readSecret reads a secret from a file or standard input.
func (s *session) readSecret(arg string) (string, error) {
	if arg != "-" && !strings.HasPrefix(arg, "@") {
		return "", errors.New("other users of this machine can read arguments: pass the secret as @FILE, or - for standard input")
	}
	text, err := s.readInput(arg)
	return string(bytes.TrimSpace(text)), err
}

type connectorAdd struct {
	Name string `arg:"" help:"The connector's name."`
	serverFlags
	PerAgent bool `help:"Each agent has its own credential."`
}

// Run registers the server.
func (c connectorAdd) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	draft, err := c.newConnector(s, c.Name)
	if err != nil {
		return err
	}
	if c.PerAgent {
		draft.CredentialMode = new("per_agent")
	}
	made, err := api.CreateConnector(ctx, draft)
	if err != nil {
		return err
	}
	return s.printSentence(made, "%s", made.Slug)
}

type connectorTest struct{ serverFlags }

// Run fails if the server is not usable.
func (c connectorTest) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	draft, err := c.newConnector(s, "Test")
	if err != nil {
		return err
	}
	tested, err := api.TestConnector(ctx, draft)
	if err != nil {
		return err
	}
	t := newTable("TOOL", "DESCRIPTION")
	for _, tool := range tested.Tools {
		t.addRow(tool.Name, shorten(tool.Description))
	}
	if err := s.printValue(tested, t); err != nil {
		return err
	}
	if tested.Error != nil {
		return newServerError(tested.Error.Message, tested.Upstream)
	}
	names := capabilityNames(tested.Capabilities)
	return s.printSentence(nil, "Prompts: %d. Resources: %d. Resource templates: %d. Capabilities: %s.", tested.Prompts, tested.Resources, tested.ResourceTemplates, names)
}

// capabilityNames lists the members of an object, sorted; "none" if there are none.
func capabilityNames(capabilities json.RawMessage) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(capabilities, &members) != nil || len(members) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(members)), ", ")
}

type connectorDelete struct{ connectorRef }

// Run deletes the connector.
func (c connectorDelete) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if err := api.DeleteConnector(ctx, c.Connector); err != nil {
		return err
	}
	return s.printSentence(nil, "Deleted %s.", c.Connector)
}

type connectorSync struct {
	Connector string `arg:"" optional:"" help:"The connector's slug or id."`
	All       bool   `help:"Queue a sync of all enabled connectors."`
	NoWait    bool   `help:"Queue the sync and exit."`
	Agent     string `placeholder:"AGENT" help:"Use this agent's credential."`
}

// Run fails if the sync does.
func (c connectorSync) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if c.All == (c.Connector != "") {
		return errors.New("name a connector or use --all")
	}
	if c.All {
		queued, err := api.SyncAllTools(ctx)
		if err != nil {
			return err
		}
		return s.printSentence(queued, "Queued %d syncs.", queued.Queued)
	}
	var in client.SyncRequest
	if c.Agent != "" {
		in.Agent = &c.Agent
	}
	run, err := api.SyncTools(ctx, c.Connector, client.SyncToolsQuery{Wait: new(!c.NoWait)}, in)
	if err != nil {
		return err
	}
	t := newTable("STATUS", "TOOLS", "ADDED", "CHANGED", "REMOVED", "QUARANTINED", "PROMPTS", "RESOURCES")
	var prompts, resources string
	if run.Items != nil {
		prompts, resources = countText(run.Items.Prompts), countText(run.Items.Resources, run.Items.ResourceTemplates)
	}
	t.addRow(run.Status, run.ToolsTotal, run.ToolsAdded, run.ToolsChanged, run.ToolsRemoved, run.ToolsQuarantined, prompts, resources)
	if err := s.printValue(run, t); err != nil {
		return err
	}
	if run.Error != nil {
		return newServerError(run.Error.Message, run.Upstream)
	}
	return nil
}

type connectorCancelSync struct {
	Connector string `arg:"" help:"The connector's slug or id."`
}

// Run cancels the runs that have not ended. The newest are among the first of the list.
func (c connectorCancelSync) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	runs, err := api.ListSyncRuns(ctx, c.Connector, client.ListSyncRunsQuery{})
	if err != nil {
		return err
	}
	cancelled := []client.SyncRun{}
	for _, run := range runs.Items {
		if run.Status != "queued" && run.Status != "running" {
			continue
		}
		ended, err := api.CancelSyncRun(ctx, run.ID)
		if err != nil {
			return err
		}
		cancelled = append(cancelled, ended)
	}
	if len(cancelled) == 0 {
		return fmt.Errorf("no sync of %s is running or queued", c.Connector)
	}
	return s.printSentence(cancelled, "Cancelled the sync of %s.", c.Connector)
}

// countText is "3", or "3 (1 added, 2 changed, 1 removed)".
func countText(kinds ...client.KindCounts) string {
	var sum client.KindCounts
	for _, k := range kinds {
		sum = client.KindCounts{Total: sum.Total + k.Total, Added: sum.Added + k.Added, Changed: sum.Changed + k.Changed, Removed: sum.Removed + k.Removed}
	}
	if sum.Added+sum.Changed+sum.Removed == 0 {
		return fmt.Sprint(sum.Total)
	}
	return fmt.Sprintf("%d (%d added, %d changed, %d removed)", sum.Total, sum.Added, sum.Changed, sum.Removed)
}

type connectorPing struct {
	connectorRef
	Agent string `placeholder:"AGENT" help:"Use this agent's credential."`
}

// Run fails if the server does not respond.
func (c connectorPing) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	var in client.SyncRequest
	if c.Agent != "" {
		in.Agent = &c.Agent
	}
	got, err := api.PingConnector(ctx, c.Connector, in)
	if err != nil {
		return err
	}
	t := newTable("RESPONDED", "PING MS", "CONNECT MS")
	t.addRow(got.Ok, got.PingMS, got.ConnectMS)
	if err := s.printValue(got, t); err != nil {
		return err
	}
	if got.Error != nil {
		return newServerError(got.Error.Message, got.Upstream)
	}
	return nil
}

type connectorTools struct {
	connectorRef
	Query   string `short:"q" placeholder:"TEXT" help:"Filter by words in the name, title or description, or by a regular expression between slashes."`
	State   string `placeholder:"STATE" help:"Filter by state: enabled, disabled, changed, held or curated."`
	Removed bool   `help:"Include removed tools."`
}

// Run prints a row for each tool.
func (c connectorTools) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	q := client.ListConnectorToolsQuery{Q: c.Query, State: c.State, Limit: pageSize}
	if c.Removed {
		q.Removed = &c.Removed
	}
	list, err := collectPages(api.AllConnectorTools(ctx, c.Connector, q))
	if err != nil {
		return err
	}
	t := newTable("TOOL", "REVIEW", "ENABLED", "SINCE", "CHANGED", "DESCRIPTION")
	for _, item := range list {
		if tool := item.Tool; tool != nil {
			t.addRow(tool.Name, tool.Review, tool.Enabled, tool.FirstSeenAt, tool.ChangedAt, shorten(tool.Description))
		}
	}
	return s.printValue(list, t)
}

type connectorCredentials struct {
	connectorRef
	Query  string `short:"q" placeholder:"TEXT" help:"Filter by part of the agent's name or slug."`
	Status string `placeholder:"STATUS" enum:",missing,connected,attention" default:"" help:"Filter by status: missing, connected or attention."`
}

// Run prints a row for each credential, and with --status missing for each agent without one. Below it is why accounts
// failed or ended, with what the server said.
func (c connectorCredentials) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	list, err := collectPages(api.AllCredentials(ctx, c.Connector, client.ListCredentialsQuery{Q: c.Query, Status: c.Status, Limit: pageSize}))
	if err != nil {
		return err
	}
	t := newTable("AGENT", "NAME", "TYPE", "STATUS", "ACCOUNT", "EXPIRES", "LAST USED")
	for _, one := range list {
		t.addRow(one.Agent, one.Name, one.Type, one.Status, one.Account, one.ExpiresAt, one.LastUsedAt)
		if one.Error != nil {
			t.notes = append(t.notes, newServerError(cmp.Or(one.Agent, "shared")+": "+*one.Error, one.Upstream).Error())
		}
	}
	return s.printValue(list, t)
}

func shorten(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
