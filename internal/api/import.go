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
		Description: "An mcpServers document: {\"mcpServers\": {…}}, an array of servers, or one server. Also VS Code's {\"servers\": {…}} and an MCP registry's list (GET /v0.1/servers). " +
			"Comments and trailing commas are allowed. Codex files are TOML. At most 1 MiB and 500 servers.",
		AnyOf: []*huma.Schema{
			{Type: huma.TypeObject, AdditionalProperties: true},
			{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}},
		},
	}
}

type importInput struct {
	JSON requestBody[importDocument]
	Dry  bool `query:"dry_run" default:"false" doc:"true: dry run, store nothing."`

	Confirm bool `query:"confirm" default:"false" doc:"true: move connectors to another origin even if that deletes credentials; otherwise such servers are refused."`
}

// importJSON is the result of an import.
type importJSON struct {
	DryRun    bool           `json:"dry_run"`
	Created   int            `json:"created"`
	Updated   int            `json:"updated"`
	Unchanged int            `json:"unchanged"`
	Refused   int            `json:"refused"`
	Items     []importedJSON `json:"items" nullable:"false" doc:"One per server, in the document's order."`
}

// importedJSON is one server of the document.
type importedJSON struct {
	Name        string            `json:"name" doc:"The name in the document."`
	Line        int               `json:"line" doc:"Line number in the document, from 1."`
	URL         *string           `json:"url" doc:"Without query. Null if none."`
	Outcome     string            `json:"outcome" enum:"created,updated,unchanged,refused"`
	Why         *string           `json:"why" doc:"Why it was refused, or what is missing. Null if neither."`
	Errors      []importErrorJSON `json:"errors" nullable:"false" doc:"All errors of the server."`
	ConnectorID *string           `json:"connector_id" doc:"Null if refused or not yet created."`
	Slug        *string           `json:"slug"`
	Changed     []string          `json:"changed" nullable:"false" doc:"Changed settings, including credential if one was set."`
	Missing     *string           `json:"missing" enum:"token,key,password,client_secret,private_key,account,agents" doc:"What must be set or connected before use. Null if nothing."`
	Notices     []string          `json:"notices" nullable:"false"`
}

type importErrorJSON struct {
	Location string `json:"location" doc:"The path within the server."`
	Message  string `json:"message"`
}

const aboutImport = `Servers are created, updated or refused one by one; the response is 200 even if all are refused. A server updates the connector with its name's
slug, else the only one with its URL; otherwise it is created. Authentication headers become credentials; one with a placeholder such as ${TOKEN}
must be set later. Each registry server with a streamable-http or sse address becomes a connector, without credential;
servers with the URL of a connector are left unchanged.`

func (h *Handler) mountImport() {
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/import", id: "importConnectors", tag: "Import and export",
		summary: "Import the servers of an mcpServers document", description: aboutImport, permission: connectors.PermManage,
	}, h.importConnectors)
	h.mountExport()
}

func (h *Handler) importConnectors(ctx context.Context, actor auth.Actor, in *importInput) (*response[importJSON], error) {
	raw, err := readBody(in.JSON.body, maxBody)
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
