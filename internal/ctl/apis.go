package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"patchbay/client"
)

// maxDocument bounds the document of an HTTP API, in bytes.
const maxDocument = 16 << 20

// documentFlags say where a document is.
type documentFlags struct {
	Document string `arg:"" help:"The OpenAPI or Swagger document: its URL, @FILE, or - for standard input."`
	Address  string `placeholder:"URL" help:"The address of the API, for a document from a file."`
}

// setDocument sets the document of a new connector.
func (f documentFlags) setDocument(s *session, draft *client.ConnectorCreate) error {
	if f.Document != "-" && !strings.HasPrefix(f.Document, "@") {
		draft.DocumentURL = &f.Document
		return nil
	}
	if f.Address == "" {
		return errors.New("a document from a file needs --address, the address of the API")
	}
	text, err := s.readInputUpTo(f.Document, maxDocument)
	draft.Document, draft.URL = new(string(text)), &f.Address
	return err
}

type connectorTestAPI struct{ documentFlags }

// Run fails if the document can't be read.
func (c connectorTestAPI) Run(ctx context.Context, s *session) error {
	draft := client.ConnectorCreate{Name: "Test", Kind: new("http")}
	if err := c.setDocument(s, &draft); err != nil {
		return err
	}
	api, err := s.openClient()
	if err != nil {
		return err
	}
	tested, err := api.TestConnector(ctx, draft)
	if err != nil {
		return err
	}
	if tested.Error != nil || tested.API == nil {
		if s.flags.Output == "json" {
			if err := s.printJSON(tested); err != nil {
				return err
			}
		}
		if tested.Error == nil {
			return errors.New("the document is empty")
		}
		return newServerError(tested.Error.Message, tested.Upstream)
	}
	t := newTable("SIGN-IN", "NAME", "OPERATIONS")
	for _, m := range tested.API.SignInMethods {
		name := ""
		if m.Header != nil {
			name = *m.Header
		}
		t.addRow(m.Type, name, fmt.Sprint(m.Operations))
	}
	if err := s.printValue(tested, t); err != nil {
		return err
	}
	return s.printSentence(nil, "%s %s has %d operations. Server: %s", tested.API.Title, tested.API.Version, tested.API.Operations, tested.API.ServerURL)
}

type connectorAddAPI struct {
	Name string `arg:"" help:"The connector's name."`
	documentFlags
	Pick     []string `sep:"none" placeholder:"OPERATION" help:"An operation that becomes a tool, such as \"GET /pets/{id}\". May be repeated."`
	PerAgent bool     `help:"Each agent has its own credential."`
	In       string   `enum:"header,query,cookie" default:"header" help:"Where the key of api_key is sent: header, query or cookie (${default}). --header is its name."`
	authFlags
}

// Run adds the connector. Its tools come with the first sync.
func (c connectorAddAPI) Run(ctx context.Context, s *session) error {
	draft, err := c.setAuth(s, client.ConnectorCreate{Name: c.Name, Kind: new("http"), Operations: c.Pick})
	if err != nil {
		return err
	}
	if c.In != "" && c.In != "header" {
		if c.Auth != "api_key" {
			return errors.New("--in is for --auth api_key")
		}
		draft.Auth.In = &c.In
	}
	if c.PerAgent {
		draft.CredentialMode = new("per_agent")
	}
	if err := c.setDocument(s, &draft); err != nil {
		return err
	}
	api, err := s.openClient()
	if err != nil {
		return err
	}
	made, err := api.CreateConnector(ctx, draft)
	if err != nil {
		return err
	}
	return s.printSentence(made, "%s", made.Slug)
}

type connectorOperations struct {
	connectorRef
	Query  string   `short:"q" placeholder:"TEXT" help:"Filter by part of the name, path, title or description."`
	Tag    string   `placeholder:"TAG" help:"Filter by tag of the document."`
	Method string   `placeholder:"METHOD" help:"Filter by HTTP method."`
	Path   string   `placeholder:"PREFIX" help:"Filter by the beginning of the path."`
	Picked bool     `help:"Only operations that are picked."`
	New    bool     `help:"Only operations that the document got later, neither picked nor passed over since."`
	Add    []string `sep:"none" placeholder:"OPERATION" help:"Pick this operation, such as \"GET /pets/{id}\". May be repeated."`
	Remove []string `sep:"none" placeholder:"OPERATION" help:"Pick this operation no more, or pass over a new one. May be repeated."`
	AddAll bool     `name:"pick" help:"Pick all that the filters select."`
}

// Run changes what is picked, and prints a row for each selected operation.
func (c connectorOperations) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if c.AddAll && !c.New && c.Query+c.Tag+c.Method+c.Path == "" {
		return errors.New("--pick needs a filter")
	}
	change := client.OperationChange{Add: c.Add, Remove: c.Remove}
	if c.AddAll {
		selected, err := c.selectOperations(ctx, api)
		if err != nil {
			return err
		}
		for _, o := range selected {
			if o.Problem == nil {
				change.Add = append(change.Add, o.Key)
			}
		}
	}
	if len(change.Add)+len(change.Remove) > 0 {
		if err := api.PickOperations(ctx, c.Connector, change); err != nil {
			return err
		}
	}
	list, err := c.selectOperations(ctx, api)
	if err != nil {
		return err
	}
	t := newTable("OPERATION", "TOOL", "PICKED", "NEW", "TOKENS", "TAGS", "TITLE")
	for _, o := range list {
		t.addRow(o.Key, o.Name, o.Picked, o.New, o.Tokens, o.Tags, shorten(o.Title))
	}
	return s.printValue(list, t)
}

// selectOperations lists the operations that the filters select.
func (c connectorOperations) selectOperations(ctx context.Context, api *client.Client) ([]client.Operation, error) {
	q := client.ListOperationsQuery{Q: c.Query, Tag: c.Tag, Method: c.Method, Path: c.Path, Limit: pageSize}
	if c.Picked {
		q.Picked = "true"
	}
	if c.New {
		q.New = "true"
	}
	return collectPages(api.AllOperations(ctx, c.Connector, q))
}

type connectorEndpoints struct{ connectorRef }

// Run prints a row for each endpoint.
func (c connectorEndpoints) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	list, err := collectPages(api.AllEndpoints(ctx, c.Connector, client.ListEndpointsQuery{Limit: pageSize}))
	if err != nil {
		return err
	}
	t := newTable("ENDPOINT", "METHOD", "URL", "TITLE")
	for _, e := range list {
		t.addRow(e.Name, e.Method, e.URL, e.Title)
	}
	return s.printValue(list, t)
}

type connectorAddEndpoint struct {
	connectorRef
	From string `arg:"" help:"A curl command, or an endpoint as JSON: @FILE, or - for standard input. Commands with a secret only so."`
	Name string `placeholder:"NAME" help:"The tool's name."`
}

// Run adds the endpoint, and says what of a curl command was left out.
func (c connectorAddEndpoint) Run(ctx context.Context, s *session) error {
	text, err := s.readInput(c.From)
	if err != nil {
		return err
	}
	var create client.EndpointCreate
	if from := strings.TrimSpace(string(text)); strings.HasPrefix(from, "{") {
		if err := json.Unmarshal(text, &create); err != nil {
			return fmt.Errorf("the endpoint is not valid JSON: %w", err)
		}
	} else {
		create.Curl = &from
	}
	if c.Name != "" {
		create.Name = &c.Name
	}
	api, err := s.openClient()
	if err != nil {
		return err
	}
	made, err := api.CreateEndpoint(ctx, c.Connector, create)
	if err != nil {
		return err
	}
	notes := made.Notes
	if made.Credential != nil {
		notes = append(notes, "The command's credential wasn't stored: set it for the connector.")
	}
	return s.printSentence(made, "%s", strings.Join(append([]string{made.Name}, notes...), "\n"))
}

type connectorDeleteEndpoint struct {
	connectorRef
	Endpoint string `arg:"" help:"The endpoint's name."`
}

// Run deletes the endpoint.
func (c connectorDeleteEndpoint) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if err := api.DeleteEndpoint(ctx, c.Connector, c.Endpoint); err != nil {
		return err
	}
	return s.printSentence(nil, "Deleted the endpoint %s.", c.Endpoint)
}
