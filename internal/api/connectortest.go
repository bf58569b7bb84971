package api

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
)

// connectorTestJSON is the result of a connection test. A failing server is a result too.
type connectorTestJSON struct {
	OK           bool                    `json:"ok"`
	Server       serverJSON              `json:"server"`
	Capabilities json.RawMessage         `json:"capabilities" doc:"As the server sent them. Null if not readable."`
	Tools        []testedToolJSON        `json:"tools" nullable:"false"`
	Quarantined  []quarantinedToolJSON   `json:"quarantined,omitempty" nullable:"false" doc:"Invalid entries of the tool list."`
	Prompts      int                     `json:"prompts" doc:"Number of prompts listed."`
	Resources    int                     `json:"resources" doc:"Number of resources listed."`
	Templates    int                     `json:"resource_templates" doc:"Number of resource templates listed."`
	Error        *connectorTestErrorJSON `json:"error"`
	Upstream     *upstreamSaidJSON       `json:"upstream" doc:"The server's response if it failed. Null if none."`
	API          *testedAPIJSON          `json:"api" doc:"Of kind http: what its document says. Null if there is none, or if it can't be read."`
}

// testedAPIJSON is an HTTP API that is not stored.
type testedAPIJSON struct {
	Spec       string         `json:"spec" doc:"Version of OpenAPI or Swagger."`
	Title      string         `json:"title"`
	Version    string         `json:"version"`
	Operations int            `json:"operations" doc:"Number of operations."`
	ServerURL  string         `json:"server_url" doc:"Where calls go, unless an operation has its own server. Empty: the document names none that can be used."`
	SignIn     []signInMethod `json:"sign_in_methods" nullable:"false" doc:"Ways to sign in that the document offers, the most useful first. Empty: none that is supported."`
	LeftOut    []string       `json:"left_out" nullable:"false" doc:"Parts of the document that can't be read, with the reason."`
}

// testedToolJSON is a tool that is not stored.
type testedToolJSON struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Annotations  json.RawMessage `json:"annotations"`
}

type connectorTestErrorJSON struct {
	Code       string `json:"code"`
	Message    string `json:"message"`
	Phase      string `json:"phase"`
	HTTPStatus *int   `json:"http_status" doc:"Null without a response."`
	RPCCode    *int   `json:"rpc_code" doc:"Null without a JSON-RPC error."`
	Retryable  bool   `json:"retryable"`
}

// TransformSchema implements huma.SchemaTransformer.
func (connectorTestJSON) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return setNullable(s, "error", "upstream", "api")
}

func (h *Handler) testConnector(ctx context.Context, actor auth.Actor, in *createConnectorInput) (*response[connectorTestJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	draft, secret := doc.toDraft(actor)
	if content, isAPI, err := doc.toContent(&draft); err != nil || isAPI {
		if err != nil {
			return nil, err
		}
		return h.testAPI(ctx, actor, draft, secret, content)
	}
	report, err := h.sync.Probe(ctx, actor.Tenant.ID, new(actor.Event("connector.test", "")), draft, secret)
	if err != nil {
		return nil, err
	}
	out := connectorTestJSON{
		OK:           report.OK,
		Server:       viewServer(report.Server),
		Capabilities: report.Capabilities,
		Tools:        make([]testedToolJSON, 0, len(report.Tools)),
		Error:        viewTestError(report.Error),

		Prompts: report.Items.Prompts.Total, Resources: report.Items.Resources.Total, Templates: report.Items.Templates.Total,
		Upstream: viewTestUpstream(report.Error),
	}
	for _, t := range report.Tools {
		out.Tools = append(out.Tools, viewTestedTool(t))
	}
	for _, q := range report.Quarantined {
		out.Quarantined = append(out.Quarantined, viewQuarantined(q))
	}
	return &response[connectorTestJSON]{Body: out}, nil
}

// testAPI reads the document of an HTTP API. No credential is sent.
func (h *Handler) testAPI(
	ctx context.Context, actor auth.Actor, d connectors.Draft, s connectors.Secret, content manage.APIContent,
) (*response[connectorTestJSON], error) {
	p, err := h.registry.TestAPI(ctx, actor, d, s, content)
	if err != nil {
		return nil, err
	}
	out := connectorTestJSON{OK: p.Error == nil, Tools: []testedToolJSON{}, Error: viewTestError(p.Error)}
	for _, t := range p.Tools {
		out.Tools = append(out.Tools, viewTestedTool(connectors.Definition{Name: t.Name, Raw: t.Definition}))
	}
	if p.HasDocument {
		out.Server = serverJSON{Name: p.About.Title, Title: p.About.Title, Version: p.About.Version}
		out.API = &testedAPIJSON{
			Spec: p.About.Spec, Title: p.About.Title, Version: p.About.Version, Operations: p.Operations, ServerURL: p.Server,
			SignIn: viewSignInMethods(p.SignIn), LeftOut: []string{},
		}
		for _, problem := range p.About.LeftOut {
			out.API.LeftOut = append(out.API.LeftOut, problem.Where+": "+problem.Sentence)
		}
	}
	return &response[connectorTestJSON]{Body: out}, nil
}

func viewTestedTool(t connectors.Definition) testedToolJSON {
	def := connectors.DecodeTool(t.Raw)
	return testedToolJSON{
		Name:         t.Name,
		Title:        def.Title,
		Description:  def.Description,
		InputSchema:  def.InputSchema,
		OutputSchema: def.OutputSchema,
		Annotations:  def.Annotations,
	}
}

func viewTestUpstream(f *fault.Error) *upstreamSaidJSON {
	if f == nil {
		return nil
	}
	return viewUpstreamSaid(connectors.UpstreamOf(f.Remote))
}

func viewTestError(f *fault.Error) *connectorTestErrorJSON {
	if f == nil {
		return nil
	}
	out := &connectorTestErrorJSON{Code: cmp.Or(f.Code, f.Type), Message: f.Message}
	if up := respond.ToUpstream(f.Remote); up != nil {
		out.Phase, out.HTTPStatus, out.RPCCode, out.Retryable = up.Phase, up.HTTPStatus, up.RPCCode, up.Retryable
	}
	return out
}
