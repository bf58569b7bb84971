package api

import (
	"context"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
)

func (h *Handler) mountAPIs() {
	const tag = "HTTP APIs"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/operations", id: "listOperations", tag: tag,
		summary: "List the operations of an HTTP API's document", permission: connectors.PermRead,
		description: "In the order of the document. A picked operation becomes a tool at the next sync.",
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
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/document", id: "getDocument", tag: tag,
		summary: "Get the document of an HTTP API", permission: connectors.PermRead,
		description: "As it was read last. PATCH …/connectors/{id} with document_url or document replaces it.",
	}, h.getDocument)
	h.mountEndpoints(tag)
}

// DocumentInput is the document of an HTTP API.
type DocumentInput struct {
	DocumentURL string  `json:"document_url,omitempty" doc:"Of kind http: where the OpenAPI or Swagger document is. It is read again at each sync."`
	Document    *string `json:"document,omitempty" doc:"Of kind http: the OpenAPI or Swagger document itself, in JSON or YAML, where it has no URL. Then url is the address of the API. At most 16 MiB."`
}

func (d DocumentInput) checkFields() error {
	if d.DocumentURL != "" && d.Document != nil {
		return fault.InvalidFields(fault.Field{Location: "document", Message: "Send document_url or document, not both."})
	}
	return nil
}

// documentText returns the uploaded document; nil: there is none.
func (d DocumentInput) documentText() []byte {
	if d.Document == nil {
		return nil
	}
	return []byte(*d.Document)
}

// HTTPInput is what a new connector to an HTTP API has besides its settings.
type HTTPInput struct {
	Kind string `json:"kind,omitempty" enum:"mcp,http" doc:"http: an HTTP API, of which Patchbay makes tools. Absent: an MCP server."`
	DocumentInput
	Operations []string        `json:"operations,omitempty" nullable:"false" maxItems:"1000" doc:"Of kind http: the operations of the document that become tools, by method and path: GET /pets/{id}."`
	Endpoints  []EndpointInput `json:"endpoints,omitempty" nullable:"false" maxItems:"1000" doc:"Of kind http: custom endpoints."`
}

// toContent reads what a new HTTP API has; ok: the connector is one. It sets the draft's URL to the document's.
func (a HTTPInput) toContent(d *connectors.Draft) (content manage.APIContent, ok bool, err error) {
	if a.Kind != "http" {
		if a.DocumentURL != "" || a.Document != nil || len(a.Operations) > 0 || len(a.Endpoints) > 0 {
			return content, false, fault.InvalidFields(fault.Field{Location: "kind", Message: "document_url, document, operations and endpoints need the kind \"http\"."})
		}
		return content, false, nil
	}
	if err := a.checkFields(); err != nil {
		return content, true, err
	}
	if a.DocumentURL != "" {
		d.URL = a.DocumentURL
	}
	content.Operations, content.Document = a.Operations, a.documentText()
	content.FetchDocument = a.DocumentURL != ""
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
	Path   string `query:"path" doc:"The beginning of the path, such as /pets."`
	Picked string `query:"picked" enum:"true,false"`
	New    string `query:"new" enum:"true,false" doc:"Whether the document got it later, and it was neither picked nor passed over since."`
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
	New         bool     `json:"new" doc:"The document got it later, and it was neither picked nor passed over since."`
	Tokens      int      `json:"tokens" doc:"Estimated size of the tool's definition for a model. 0: unknown, or it cannot be a tool."`
	Problem     string   `json:"problem,omitempty" doc:"Why it cannot be a tool."`

	Filter      string          `json:"filter,omitempty" doc:"A jq expression that is applied to the answer."`
	MaxPages    int             `json:"max_pages,omitempty" doc:"Pages of the answer that a call follows. Absent: one."`
	Annotations map[string]bool `json:"annotations,omitempty" doc:"Annotations of the tool that a person set, in place of those that follow from the method."`
}

func (h *Handler) listOperations(ctx context.Context, actor auth.Actor, in *listOperationsInput) (*response[list[operationJSON]], error) {
	o, err := h.registry.Operations(ctx, actor.Tenant.ID, in.ref())
	if err != nil {
		return nil, err
	}
	matching := slices.DeleteFunc(o.Operations, func(op manage.OperationSummary) bool { return !in.isMatch(op) })
	settings := map[string]connectors.APITool{}
	for _, t := range o.Tools {
		if t.Endpoint == nil {
			settings[t.Key] = t
		}
	}
	return newPageOf(matching, in.Paging, func(op manage.OperationSummary) operationJSON { return viewOperation(op, settings[op.Key]) })
}

// newPageOf returns a page of a list that is in memory.
func newPageOf[F, T any](all []F, p Paging, view func(F) T) (*response[list[T]], error) {
	from, err := readOffset(p.Cursor, len(all))
	if err != nil {
		return nil, err
	}
	out := list[T]{Items: []T{}}
	for _, one := range all[from:min(from+p.Limit, len(all))] {
		out.Items = append(out.Items, view(one))
	}
	if next := from + p.Limit; next < len(all) {
		out.NextCursor = new(strconv.Itoa(next))
	}
	return &response[list[T]]{Body: out}, nil
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

func (in *listOperationsInput) isMatch(o manage.OperationSummary) bool {
	text := strings.ToLower(o.Name + "\n" + o.Path + "\n" + o.Title + "\n" + o.Description)
	return strings.Contains(text, strings.ToLower(in.Query)) &&
		(in.Tag == "" || slices.Contains(o.Tags, in.Tag)) &&
		(in.Method == "" || strings.EqualFold(o.Method, in.Method)) &&
		strings.HasPrefix(o.Path, in.Path) &&
		(in.New == "" || in.New == strconv.FormatBool(o.IsNew)) &&
		(in.Picked == "" || in.Picked == strconv.FormatBool(o.IsPicked))
}

func viewOperation(o manage.OperationSummary, settings connectors.APITool) operationJSON {
	return operationJSON{
		Key: o.Key, Name: o.Name, Title: o.Title, Description: o.Description, Method: o.Method, Path: o.Path,
		Tags: append([]string{}, o.Tags...), Deprecated: o.Deprecated, Picked: o.IsPicked, New: o.IsNew, Tokens: o.Tokens, Problem: o.Problem,
		Filter: settings.Filter, MaxPages: settings.MaxPages, Annotations: settings.Annotations,
	}
}

type pickOperationsInput struct {
	ConnectorPath
	JSON requestBody[operationChange]
}

// operationChange picks operations.
type operationChange struct {
	Add    []string `json:"add,omitempty" nullable:"false" maxItems:"1000" doc:"Keys of operations that become tools."`
	Remove []string `json:"remove,omitempty" nullable:"false" maxItems:"1000" doc:"Keys of operations to unpick: agents lose their tools at the next sync. A new operation is passed over."`

	Change []operationPatch `json:"change,omitempty" nullable:"false" maxItems:"1000" doc:"Changes of operations that are picked, or picked by this."`
}

// operationPatch changes how a picked operation is called and described. An absent field keeps its value.
type operationPatch struct {
	Key         string          `json:"key" doc:"Method and path."`
	Filter      *string         `json:"filter,omitempty" maxLength:"4096" doc:"A jq expression that is applied to the answer. Empty: none."`
	MaxPages    *int            `json:"max_pages,omitempty" minimum:"0" maximum:"20" doc:"Pages of the answer that a call follows, if the document says how it is paginated."`
	Annotations map[string]bool `json:"annotations,omitempty" doc:"readOnlyHint, destructiveHint, idempotentHint, openWorldHint. Replaced as a whole; empty: those that follow from the method."`
}

func (h *Handler) pickOperations(ctx context.Context, actor auth.Actor, in *pickOperationsInput) (*struct{}, error) {
	change, err := in.JSON.readJSON()
	if err != nil {
		return nil, h.orNotFound(ctx, actor, in.ref(), nil, err)
	}
	changes := make([]manage.OperationChange, len(change.Change))
	for i, c := range change.Change {
		changes[i] = manage.OperationChange(c)
	}
	return nil, h.registry.ChangeOperations(ctx, actor, in.ref(), change.Add, change.Remove, changes)
}

type getDocumentInput struct {
	ConnectorPath
	Text bool `query:"text" doc:"true: with the text of an uploaded document."`
}

// documentInfoJSON is the document of an HTTP API.
type documentInfoJSON struct {
	DocumentURL string     `json:"document_url,omitempty" doc:"Absent: it was uploaded, or there is none."`
	Size        int        `json:"size" doc:"In bytes. 0: there is no document."`
	SHA256      string     `json:"sha256,omitempty"`
	ReadAt      *time.Time `json:"read_at" doc:"When this version was read or uploaded. Null: there is no document."`
	Text        string     `json:"text,omitempty" doc:"Of an uploaded document, if asked for."`
}

func (h *Handler) getDocument(ctx context.Context, actor auth.Actor, in *getDocumentInput) (*response[documentInfoJSON], error) {
	c, d, err := h.registry.APIDocument(ctx, actor.Tenant.ID, in.ref(), in.Text)
	if err != nil {
		return nil, err
	}
	out := documentInfoJSON{}
	if d != nil {
		out.Size, out.SHA256, out.ReadAt = d.Size, hex.EncodeToString(d.Hash[:]), &d.ReadAt
		if d.IsFetched {
			out.DocumentURL = c.URL
		} else {
			out.Text = string(d.Body)
		}
	}
	return &response[documentInfoJSON]{Body: out}, nil
}

// toKind returns the kind of a connector.
func toKind(c connectors.Connector) string {
	if c.Transport == connectors.TransportAPI {
		return "http"
	}
	return "mcp"
}
