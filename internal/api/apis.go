package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/internal/openapi"
)

func (h *Handler) mountAPIs() {
	const tag = "HTTP APIs"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/operations", id: "listOperations", tag: tag,
		summary: "List the operations of an HTTP API's document", permission: connectors.PermRead,
		description: "In the order of the document. An operation becomes a tool when it is picked and the connector is synced.",
	}, h.listOperations)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/sign_in_methods", id: "listSignInMethods", tag: tag,
		summary: "List the ways to sign in that an HTTP API's document offers", permission: connectors.PermRead,
		description: "For the picked operations, or all if none is picked; the most useful first.",
	}, h.listSignInMethods)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/connectors/{id}/operations", id: "pickOperations", tag: tag,
		summary: "Pick operations of an HTTP API", permission: connectors.PermManage, status: http.StatusNoContent,
		description: "Agents get the tools after the next sync.",
	}, h.pickOperations)
}

// APIInput is what a new connector to an HTTP API has besides its settings.
type APIInput struct {
	Kind        string          `json:"kind,omitempty" enum:"mcp,http" doc:"http: an HTTP API, of which Patchbay makes tools. Absent: an MCP server."`
	DocumentURL string          `json:"document_url,omitempty" doc:"Of kind http: where the OpenAPI or Swagger document is. It is read again at each sync."`
	Document    string          `json:"document,omitempty" doc:"Of kind http: the OpenAPI or Swagger document itself, in JSON or YAML, where it has no URL. Then url is the address of the API."`
	Operations  []string        `json:"operations,omitempty" nullable:"false" doc:"Of kind http: the operations of the document that become tools, by method and path: GET /pets/{id}."`
	Endpoints   []endpointInput `json:"endpoints,omitempty" nullable:"false" doc:"Of kind http: tools without a document."`
}

// endpointInput is a tool of an HTTP API that is written by hand.
type endpointInput struct {
	Name        string            `json:"name" doc:"Of the tool."`
	Title       string            `json:"title,omitempty"`
	Description string            `json:"description,omitempty" doc:"What the tool does, for the model."`
	Method      string            `json:"method" doc:"An HTTP method."`
	URL         string            `json:"url" doc:"With {placeholders} in path and query, which become arguments."`
	Headers     map[string]string `json:"headers,omitempty" doc:"Fixed values, or one placeholder each."`
	Media       string            `json:"media,omitempty" doc:"Media type of the body; absent: none is sent."`
	Body        string            `json:"body,omitempty" doc:"Template of the body, with {placeholders}."`
	Filter      string            `json:"filter,omitempty" doc:"A jq expression that is applied to the answer."`
}

func (e endpointInput) toEndpoint() openapi.Endpoint {
	out := openapi.Endpoint{
		Name: e.Name, Title: e.Title, Description: e.Description, Method: e.Method, URL: e.URL, Media: e.Media, Body: e.Body, Filter: e.Filter,
	}
	for name, value := range e.Headers {
		out.Headers = append(out.Headers, openapi.Header{Name: name, Value: value})
	}
	slices.SortFunc(out.Headers, func(a, b openapi.Header) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// toContent reads what a new HTTP API has; ok: the connector is one. It sets the draft's URL to the document's.
func (a APIInput) toContent(d *connectors.Draft) (content manage.APIContent, ok bool, err error) {
	if a.Kind != "http" {
		if a.DocumentURL != "" || a.Document != "" || len(a.Operations) > 0 || len(a.Endpoints) > 0 {
			return content, false, fault.InvalidFields(fault.Field{Location: "kind", Message: "document_url, document, operations and endpoints need the kind \"http\"."})
		}
		return content, false, nil
	}
	if a.DocumentURL != "" {
		if a.Document != "" {
			return content, true, fault.InvalidFields(fault.Field{Location: "document", Message: "Send document_url or document, not both."})
		}
		d.URL = a.DocumentURL
	}
	content.Operations = a.Operations
	if a.Document != "" {
		content.Document = []byte(a.Document)
	}
	for _, e := range a.Endpoints {
		content.Endpoints = append(content.Endpoints, e.toEndpoint())
	}
	return content, true, nil
}

type listOperationsInput struct {
	ConnectorPath
	Paging
	Query  string `query:"q" doc:"A part of the name, the path, the title or the description."`
	Tag    string `query:"tag"`
	Method string `query:"method" doc:"Such as GET."`
	Picked string `query:"picked" enum:"true,false"`
}

// operationJSON is an operation of an HTTP API.
type operationJSON struct {
	Key         string   `json:"key" doc:"Method and path."`
	Name        string   `json:"name" doc:"Of the tool."`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Method      string   `json:"method"`
	Path        string   `json:"path"`
	Tags        []string `json:"tags" nullable:"false"`
	Deprecated  bool     `json:"deprecated"`
	Picked      bool     `json:"picked" doc:"It is a tool since the sync after it was picked."`
	Tokens      int      `json:"tokens" doc:"Estimated size of the tool's definition for a model."`
	Problem     string   `json:"problem,omitempty" doc:"Why it cannot be a tool."`
}

func (h *Handler) listOperations(ctx context.Context, actor auth.Actor, in *listOperationsInput) (*response[list[operationJSON]], error) {
	_, all, err := h.registry.Operations(ctx, actor.Tenant.ID, in.ref())
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(o manage.APIOperation) bool { return !in.isMatch(o) })
	from, err := readOffset(in.Cursor, len(all))
	if err != nil {
		return nil, err
	}
	out := list[operationJSON]{Items: []operationJSON{}}
	for _, o := range all[from:min(from+in.Limit, len(all))] {
		out.Items = append(out.Items, viewOperation(o))
	}
	if next := from + in.Limit; next < len(all) {
		out.NextCursor = new(strconv.Itoa(next))
	}
	return &response[list[operationJSON]]{Body: out}, nil
}

// readOffset reads the cursor of a list that is in memory.
func readOffset(cursor string, length int) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(cursor)
	if err != nil || n < 0 {
		return 0, fault.Errorf(fault.Malformed, "The cursor isn't valid.")
	}
	return min(n, length), nil
}

func (in *listOperationsInput) isMatch(o manage.APIOperation) bool {
	text := strings.ToLower(o.Name + "\n" + o.Path + "\n" + o.Title + "\n" + o.Description)
	return strings.Contains(text, strings.ToLower(in.Query)) &&
		(in.Tag == "" || slices.Contains(o.Tags, in.Tag)) &&
		(in.Method == "" || strings.EqualFold(o.Method, in.Method)) &&
		(in.Picked == "" || in.Picked == strconv.FormatBool(o.Picked))
}

func viewOperation(o manage.APIOperation) operationJSON {
	out := operationJSON{
		Key: o.Key(), Name: o.Name, Title: o.Title, Description: o.Description, Method: o.Method, Path: o.Path,
		Tags: append([]string{}, o.Tags...), Deprecated: o.Deprecated, Picked: o.Picked, Problem: o.Problem,
	}
	if o.Tool != nil {
		out.Tokens = agentview.MeasureTool(o.Name, o.Tool.Definition, toolfmt.MCP).Tokens
	}
	return out
}

type pickOperationsInput struct {
	ConnectorPath
	JSON requestBody[operationChange]
}

// operationChange picks operations.
type operationChange struct {
	Add    []string `json:"add,omitempty" nullable:"false" maxItems:"1000" doc:"Keys of operations that become tools."`
	Remove []string `json:"remove,omitempty" nullable:"false" maxItems:"1000" doc:"Keys of operations that are no tools any more."`
}

func (h *Handler) pickOperations(ctx context.Context, actor auth.Actor, in *pickOperationsInput) (*struct{}, error) {
	change, err := in.JSON.readJSON()
	if err != nil {
		return nil, h.orNotFound(ctx, actor, in.ref(), nil, err)
	}
	return nil, h.registry.PickOperations(ctx, actor, in.ref(), change.Add, change.Remove)
}
