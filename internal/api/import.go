package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
)

// importDocument is a client's configuration file, which has no schema.
type importDocument struct{}

// Schema implements huma.SchemaProvider.
func (importDocument) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "An mcpServers document: {\"mcpServers\": {…}}, an array of servers, or one server; VS Code's {\"servers\": {…}}, and the list of an MCP registry (GET /v0.1/servers), too. " +
			"Comments and commas too many do no harm. The file of Codex is TOML. At most 1 MiB and 500 servers.",
		AnyOf: []*huma.Schema{
			{Type: huma.TypeObject, AdditionalProperties: true},
			{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}},
		},
	}
}

type importInput struct {
	JSON requestBody[importDocument]
	Dry  bool `query:"dry_run" default:"false" doc:"true: say what would happen, and store nothing."`

	Confirm bool `query:"confirm" default:"false" doc:"true: move connectors to another origin even where that drops credentials; else such a server is refused."`
}

// importJSON is the result of an import.
type importJSON struct {
	DryRun    bool           `json:"dry_run"`
	Created   int            `json:"created"`
	Updated   int            `json:"updated"`
	Unchanged int            `json:"unchanged"`
	Refused   int            `json:"refused"`
	Items     []importedJSON `json:"items" nullable:"false" doc:"One for each server, in the document's order."`
}

// importedJSON is one server of the document.
type importedJSON struct {
	Name        string            `json:"name" doc:"As the document calls it."`
	Line        int               `json:"line" doc:"Its line in the document, from 1."`
	URL         *string           `json:"url" doc:"Without its query; null where there is none."`
	Outcome     string            `json:"outcome" enum:"created,updated,unchanged,refused"`
	Why         *string           `json:"why" doc:"Why it is refused, or what is missing; else null."`
	Errors      []importErrorJSON `json:"errors" nullable:"false" doc:"All that is wrong with it."`
	ConnectorID *string           `json:"connector_id" doc:"null where it is refused, or would be created."`
	Slug        *string           `json:"slug"`
	Changed     []string          `json:"changed" nullable:"false" doc:"The settings that are others now; credential where one was set."`
	Missing     *string           `json:"missing" enum:"token,key,password,client_secret,private_key,account,agents" doc:"What has to be set or connected before the connector can be used; null: nothing."`
	Notices     []string          `json:"notices" nullable:"false"`
}

type importErrorJSON struct {
	Location string `json:"location" doc:"Within the server."`
	Message  string `json:"message"`
}

const aboutImport = `Each server is taken or refused by itself, so that the answer is 200 even where all are refused. A server is the connector with
the slug that its name makes, else the only one with its URL: that one is changed, any other created. A header that authenticates
becomes a sealed credential; one with a placeholder such as ${TOKEN} leaves the credential to be set. Of a registry's list each server
that has an address (streamable-http, else sse) makes a connector whose credential is to be set where a header needs one; one whose URL a connector has is left unchanged.`

func (h *Handler) mountImport() {
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/import", id: "importConnectors", tag: "Import and export",
		summary: "Register the servers of an mcpServers document", description: aboutImport, permission: connectors.PermManage,
	}, h.importConnectors)
	h.mountExport()
}

func (h *Handler) importConnectors(ctx context.Context, actor auth.Actor, in *importInput) (*response[importJSON], error) {
	raw, err := readBody(in.JSON.body)
	if err != nil {
		return nil, err
	}
	report, err := h.registry.Import(ctx, actor, raw, manage.ImportOptions{Dry: in.Dry, ConfirmMoves: in.Confirm})
	if err != nil {
		return nil, err
	}
	return &response[importJSON]{Body: viewImport(report)}, nil
}

func viewImport(r manage.ImportReport) importJSON {
	out := importJSON{
		DryRun: r.Dry, Items: make([]importedJSON, 0, len(r.Entries)),
		Created: r.Count(manage.Created), Updated: r.Count(manage.Updated),
		Unchanged: r.Count(manage.Unchanged), Refused: r.Count(manage.Refused),
	}
	for _, e := range r.Entries {
		out.Items = append(out.Items, viewImported(e))
	}
	return out
}

func viewImported(e manage.ImportedEntry) importedJSON {
	out := importedJSON{
		Name: e.Key, Line: e.Line, URL: textOrNull(e.Address), Outcome: string(e.Outcome), Why: textOrNull(e.Why()),
		Errors: viewErrors(e.Problems), Changed: append([]string{}, e.Changed...), Missing: textOrNull(e.Missing.What),
		Notices: append([]string{}, e.Notices...),
	}
	if e.Connector != nil {
		out.ConnectorID, out.Slug = idText(&e.Connector.ID), &e.Connector.Slug
	}
	return out
}

func viewErrors(fields []fault.Field) []importErrorJSON {
	out := make([]importErrorJSON, 0, len(fields))
	for _, f := range fields {
		out = append(out, importErrorJSON(f))
	}
	return out
}

// textOrNull is nil for an empty text.
func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
