package ctl

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"patchbay/client"
)

type connectorCommands struct {
	List   connectorList   `cmd:"" help:"List connectors."`
	Get    connectorGet    `cmd:"" help:"Show a connector, whole."`
	Add    connectorAdd    `cmd:"" help:"Register a server."`
	Delete connectorDelete `cmd:"" help:"Delete a connector, with its credentials and its tools."`
	Sync   connectorSync   `cmd:"" help:"Read a connector's tools now, or those of all."`
	Tools  connectorTools  `cmd:"" help:"List a connector's tools."`
	Test   connectorTest   `cmd:"" help:"Try a server, and store nothing."`
}

// connectorRef names one.
type connectorRef struct {
	Connector string `arg:"" help:"The connector's slug or id."`
}

type connectorList struct {
	Query  string `short:"q" placeholder:"TEXT" help:"Those whose name, slug or address has this text."`
	Status string `placeholder:"STATUS" help:"Those in this state, as failing."`
}

// Run prints a row for each.
func (c connectorList) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	list, err := all(api.AllConnectors(ctx, client.ListConnectorsQuery{Q: c.Query, Status: c.Status, Limit: pageSize}))
	if err != nil {
		return err
	}
	t := newTable("CONNECTOR", "STATUS", "TOOLS", "SYNCED", "ADDRESS")
	for _, c := range list {
		t.row(c.Slug, c.Status, c.ToolCount, c.ToolsLastSyncedAt, c.URL)
	}
	return s.print(list, t)
}

// pageSize is how many items are asked for at once: as many as the API gives.
const pageSize = 200

type connectorGet struct{ connectorRef }

// Run prints it as JSON: it is more than a line has room for.
func (c connectorGet) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	connector, err := api.GetConnector(ctx, c.Connector)
	if err != nil {
		return err
	}
	return s.json(connector)
}

// serverFlags say where a server is, and how one signs in there.
type serverFlags struct {
	URL    string `arg:"" help:"The server's address."`
	Auth   string `enum:"none,bearer,api_key,oauth2" default:"none" help:"none, bearer, api_key or oauth2 (${default})."`
	Secret string `placeholder:"@FILE|-" help:"The token or key: @FILE names a file with it, - is the standard input."`
	Header string `placeholder:"NAME" help:"Of api_key: the header."`
}

// draft is the connector that the flags say.
func (f serverFlags) draft(s *session, name string) (client.ConnectorCreate, error) {
	draft := client.ConnectorCreate{Name: name, URL: &f.URL, Auth: &client.AuthInput{Type: &f.Auth}}
	if f.Header != "" {
		draft.Auth.Header = &f.Header
	}
	if f.Secret == "" {
		return draft, nil
	}
	if f.Secret != "-" && f.Secret[0] != '@' {
		return draft, errors.New("a secret is no argument, which others on this machine can read: give @FILE, or - for the standard input")
	}
	text, err := s.input(f.Secret)
	if err != nil {
		return draft, err
	}
	secret := string(bytes.TrimSpace(text))
	switch f.Auth {
	case "bearer":
		draft.Auth.Token = &secret
	case "api_key":
		draft.Auth.Key = &secret
	default:
		return draft, fmt.Errorf("--auth %s takes no secret", f.Auth)
	}
	return draft, nil
}

type connectorAdd struct {
	Name string `arg:"" help:"Its name."`
	serverFlags
	PerAgent bool `help:"Each agent has its own credential."`
}

// Run registers the server.
func (c connectorAdd) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	draft, err := c.draft(s, c.Name)
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
	return s.say(made, "%s", made.Slug)
}

type connectorTest struct{ serverFlags }

// Run fails where the server cannot be used.
func (c connectorTest) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	draft, err := c.draft(s, "Test")
	if err != nil {
		return err
	}
	tested, err := api.TestConnector(ctx, draft)
	if err != nil {
		return err
	}
	t := newTable("TOOL", "DESCRIPTION")
	for _, tool := range tested.Tools {
		t.row(tool.Name, short(tool.Description))
	}
	if err := s.print(tested, t); err != nil {
		return err
	}
	if tested.Error != nil {
		return errors.New(plain(tested.Error.Message))
	}
	return nil
}

type connectorDelete struct{ connectorRef }

// Run deletes it.
func (c connectorDelete) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	if err := api.DeleteConnector(ctx, c.Connector); err != nil {
		return err
	}
	return s.say(nil, "%s is deleted.", c.Connector)
}

type connectorSync struct {
	Connector string `arg:"" optional:"" help:"The connector's slug or id."`
	All       bool   `help:"All that are enabled; they are queued."`
	NoWait    bool   `help:"Queue it, and do not wait."`
	Agent     string `placeholder:"AGENT" help:"With this agent's credential."`
}

// Run fails where the sync does.
func (c connectorSync) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	if c.All == (c.Connector != "") {
		return errors.New("name a connector, or say --all")
	}
	if c.All {
		queued, err := api.SyncAllTools(ctx)
		if err != nil {
			return err
		}
		return s.say(queued, "%d syncs are queued.", queued.Queued)
	}
	var in client.SyncRequest
	if c.Agent != "" {
		in.Agent = &c.Agent
	}
	run, err := api.SyncTools(ctx, c.Connector, client.SyncToolsQuery{Wait: new(!c.NoWait)}, in)
	if err != nil {
		return err
	}
	t := newTable("STATUS", "TOOLS", "ADDED", "CHANGED", "REMOVED", "SET ASIDE")
	t.row(run.Status, run.ToolsTotal, run.ToolsAdded, run.ToolsChanged, run.ToolsRemoved, run.ToolsQuarantined)
	if err := s.print(run, t); err != nil {
		return err
	}
	if run.Error != nil {
		return errors.New(plain(run.Error.Message))
	}
	return nil
}

type connectorTools struct {
	connectorRef
	Query   string `short:"q" placeholder:"TEXT" help:"Those whose name, title or description has this text."`
	State   string `placeholder:"STATE" help:"Those in this state."`
	Removed bool   `help:"Those that are gone, too."`
}

// Run prints a row for each.
func (c connectorTools) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	q := client.ListConnectorToolsQuery{Q: c.Query, State: c.State, Limit: pageSize}
	if c.Removed {
		q.Removed = &c.Removed
	}
	list, err := all(api.AllConnectorTools(ctx, c.Connector, q))
	if err != nil {
		return err
	}
	t := newTable("TOOL", "REVIEW", "ENABLED", "SINCE", "CHANGED", "DESCRIPTION")
	for _, item := range list {
		if tool := item.Tool; tool != nil {
			t.row(tool.Name, tool.Review, tool.Enabled, tool.FirstSeenAt, tool.ChangedAt, short(tool.Description))
		}
	}
	return s.print(list, t)
}

// short is the beginning of a text.
func short(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
