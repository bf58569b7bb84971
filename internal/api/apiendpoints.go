package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/curl"
)

func (h *Handler) mountEndpoints(tag string) {
	const path = "/api/v1/connectors/{id}/endpoints"
	registerOperation(h, operation{
		method: http.MethodGet, path: path, id: "listEndpoints", tag: tag,
		summary: "List the endpoints of an HTTP API", permission: connectors.PermRead,
		description: "Custom endpoints, by name.",
	}, h.listEndpoints)
	registerOperation(h, operation{
		method: http.MethodPost, path: path, id: "createEndpoint", tag: tag,
		summary: "Add an endpoint to an HTTP API", permission: connectors.PermManage, status: http.StatusCreated,
		description: "Send fields or a curl command; fields override the command. A credential of the command isn't stored. Agents get the tool after the next sync.",
	}, h.createEndpoint)
	registerOperation(h, operation{
		method: http.MethodGet, path: path + "/{name}", id: "getEndpoint", tag: tag,
		summary: "Get an endpoint of an HTTP API", permission: connectors.PermRead,
	}, h.getEndpoint)
	registerOperation(h, operation{
		method: http.MethodPatch, path: path + "/{name}", id: "updateEndpoint", tag: tag,
		summary: "Change an endpoint of an HTTP API", permission: connectors.PermManage,
		description: "Agents get the changed tool after the next sync.",
	}, h.updateEndpoint)
	registerOperation(h, operation{
		method: http.MethodDelete, path: path + "/{name}", id: "deleteEndpoint", tag: tag,
		summary: "Delete an endpoint of an HTTP API", permission: connectors.PermManage, status: http.StatusNoContent,
		description: "Agents lose the tool after the next sync.",
	}, h.deleteEndpoint)
}

// EndpointFields are the fields of an endpoint besides its name, method and URL.
type EndpointFields struct {
	Title        *string            `json:"title,omitempty" maxLength:"120"`
	Description  *string            `json:"description,omitempty" maxLength:"4000" doc:"What the tool does, for the model."`
	Headers      *map[string]string `json:"headers,omitempty" nullable:"false" doc:"Fixed values, or one {placeholder} each. Replaced as a whole. Visible to all readers: put secrets in the connector's auth."`
	Media        *string            `json:"media,omitempty" doc:"Media type of the body. Empty: none is sent."`
	Body         *string            `json:"body,omitempty" doc:"Template of the body, with {placeholders}. For forms a JSON object of fields."`
	Files        []string           `json:"files,omitempty" nullable:"false" doc:"Arguments that are files, in Base64."`
	InputSchema  json.RawMessage    `json:"input_schema,omitempty" doc:"JSON Schema of the arguments. Absent: all are text."`
	OutputSchema json.RawMessage    `json:"output_schema,omitempty" doc:"JSON Schema of the answer."`
	Filter       *string            `json:"filter,omitempty" maxLength:"4096" doc:"A jq expression that is applied to the answer."`
	Pages        *endpointPages     `json:"pages,omitempty" doc:"How further pages of the answer are read. Absent: one is."`
	Annotations  map[string]bool    `json:"annotations,omitempty" doc:"readOnlyHint, destructiveHint, idempotentHint, openWorldHint. Replaced as a whole; empty: those that follow from the method."`
}

// endpointPages say how further pages of an answer are read.
type endpointPages struct {
	Kind     string `json:"kind" enum:"link,cursor,page,offset" doc:"link: a Link header, or an address in the answer. cursor: a value of the answer is an argument of the next request. page, offset: an argument counts pages or items."`
	Argument string `json:"argument,omitempty" doc:"Name of the argument that gets the cursor, page or offset."`
	Next     string `json:"next,omitempty" doc:"JSON Pointer to the cursor or the address of the next page."`
	Items    string `json:"items,omitempty" doc:"JSON Pointer to the list. Absent: the answer is the list."`
	First    int    `json:"first,omitempty" doc:"Number of the first page."`
	Max      int    `json:"max" minimum:"1" maximum:"20" doc:"Maximum number of pages that a call reads."`
}

// EndpointInput is a tool of an HTTP API that is written by hand.
type EndpointInput struct {
	Name   string `json:"name" doc:"Of the tool."`
	Method string `json:"method,omitempty" doc:"An HTTP method. Absent: GET."`
	URL    string `json:"url" doc:"With {placeholders} in path and query, which become arguments."`
	EndpointFields
}

// EndpointPatch changes an endpoint. An absent field keeps its value.
type EndpointPatch struct {
	Name   *string `json:"name,omitempty" doc:"Of the tool. Another name is another tool for agents."`
	Method *string `json:"method,omitempty" doc:"An HTTP method."`
	URL    *string `json:"url,omitempty" doc:"With {placeholders} in path and query, which become arguments."`
	EndpointFields
}

// endpointCreate is a new endpoint.
type endpointCreate struct {
	Curl string `json:"curl,omitempty" doc:"A curl command, in place of url."`
	EndpointPatch
}

// endpointJSON is an endpoint.
type endpointJSON struct {
	EndpointInput
	Notes      []string            `json:"notes,omitempty" nullable:"false" doc:"Parts of the curl command that were left out."`
	Credential *endpointCredential `json:"credential,omitempty" doc:"The credential of a curl command, without its value. It wasn't stored."`
}

// endpointCredential says how a curl command authenticates.
type endpointCredential struct {
	Type string `json:"type" doc:"apiKey, basic or bearer."`
	In   string `json:"in,omitempty" doc:"Of an apiKey: header or query."`
	Name string `json:"name,omitempty" doc:"Of an apiKey: the header or parameter."`
}

func (e EndpointInput) toEndpoint() openapi.Endpoint {
	out := openapi.Endpoint{}
	EndpointPatch{&e.Name, &e.Method, &e.URL, e.EndpointFields}.applyTo(&out)
	return out
}

func (p EndpointPatch) applyTo(e *openapi.Endpoint) {
	setIfPresent(&e.Name, p.Name)
	setIfPresent(&e.Method, p.Method)
	setIfPresent(&e.URL, p.URL)
	setIfPresent(&e.Title, p.Title)
	setIfPresent(&e.Description, p.Description)
	setIfPresent(&e.Media, p.Media)
	setIfPresent(&e.Body, p.Body)
	setIfPresent(&e.Filter, p.Filter)
	if p.Headers != nil {
		e.Headers = nil
		for name, value := range *p.Headers {
			e.Headers = append(e.Headers, openapi.Header{Name: name, Value: value})
		}
		slices.SortFunc(e.Headers, func(a, b openapi.Header) int { return strings.Compare(a.Name, b.Name) })
	}
	if p.Files != nil {
		e.Files = p.Files
	}
	if p.Annotations != nil {
		e.Annotations = p.Annotations
	}
	if p.InputSchema != nil {
		e.Input = p.InputSchema
	}
	if p.OutputSchema != nil {
		e.Output = p.OutputSchema
	}
	if p.Pages != nil {
		pages := *p.Pages
		e.Pages = &openapi.Pages{Kind: openapi.PageKind(pages.Kind), Argument: pages.Argument, Next: pages.Next, Items: pages.Items, First: pages.First, Max: pages.Max}
	}
}

func viewEndpoint(e openapi.Endpoint) endpointJSON {
	headers := map[string]string{}
	for _, h := range e.Headers {
		headers[h.Name] = h.Value
	}
	out := EndpointInput{Name: e.Name, Method: e.Method, URL: e.URL, EndpointFields: EndpointFields{
		Title: &e.Title, Description: &e.Description, Headers: &headers, Media: &e.Media, Body: &e.Body, Files: e.Files,
		InputSchema: e.Input, OutputSchema: e.Output, Filter: &e.Filter, Annotations: e.Annotations,
	}}
	if p := e.Pages; p != nil {
		out.Pages = &endpointPages{string(p.Kind), p.Argument, p.Next, p.Items, p.First, p.Max}
	}
	return endpointJSON{EndpointInput: out}
}

// EndpointPath names an endpoint.
type EndpointPath struct {
	ConnectorPath
	Name string `path:"name" doc:"The endpoint's name."`
}

func (h *Handler) listEndpoints(ctx context.Context, actor auth.Actor, in *struct {
	ConnectorPath
	Paging
}) (*response[list[endpointJSON]], error) {
	_, all, err := h.registry.Endpoints(ctx, actor.Tenant.ID, in.ref())
	if err != nil {
		return nil, err
	}
	return newPageOf(all, in.Paging, viewEndpoint)
}

func (h *Handler) getEndpoint(ctx context.Context, actor auth.Actor, in *EndpointPath) (*response[endpointJSON], error) {
	_, e, err := h.registry.Endpoint(ctx, actor.Tenant.ID, in.ref(), in.Name)
	if err != nil {
		return nil, err
	}
	return &response[endpointJSON]{Body: viewEndpoint(e)}, nil
}

func (h *Handler) createEndpoint(ctx context.Context, actor auth.Actor, in *struct {
	ConnectorPath
	JSON requestBody[endpointCreate]
}) (*response[endpointJSON], error) {
	create, err := in.JSON.readJSON()
	var made openapi.Endpoint
	var command *curl.Command
	if err == nil {
		made, command, err = create.toEndpoint()
	}
	if err != nil {
		return nil, h.orNotFound(ctx, actor, in.ref(), nil, err)
	}
	if err := h.registry.AddEndpoint(ctx, actor, in.ref(), made); err != nil {
		return nil, err
	}
	out := viewEndpoint(made)
	if command != nil {
		out.Notes = command.Notes
		if c := command.Credential; c != nil {
			out.Credential = &endpointCredential{string(c.Type), c.In, c.Name}
		}
	}
	return &response[endpointJSON]{Body: out}, nil
}

// toEndpoint returns the new endpoint, and the command it comes from; nil: from none.
func (c endpointCreate) toEndpoint() (e openapi.Endpoint, command *curl.Command, err error) {
	switch {
	case c.Curl != "":
		if command, err = curl.Parse(c.Curl); err != nil {
			return e, nil, err
		}
		e = command.Endpoint
	case c.URL == nil || c.Name == nil:
		return e, nil, fault.InvalidFields(fault.Field{Location: "url", Message: "An endpoint has a name and a URL, or comes from a curl command."})
	}
	c.applyTo(&e)
	return e, command, nil
}

func (h *Handler) updateEndpoint(ctx context.Context, actor auth.Actor, in *struct {
	EndpointPath
	JSON requestBody[EndpointPatch]
}) (*response[endpointJSON], error) {
	patch, err := in.JSON.readJSON()
	if err != nil {
		if _, _, missing := h.registry.Endpoint(ctx, actor.Tenant.ID, in.ref(), in.Name); missing != nil {
			err = missing
		}
		return nil, err
	}
	e, err := h.registry.UpdateEndpoint(ctx, actor, in.ref(), in.Name, patch.applyTo)
	if err != nil {
		return nil, err
	}
	return &response[endpointJSON]{Body: viewEndpoint(e)}, nil
}

func (h *Handler) deleteEndpoint(ctx context.Context, actor auth.Actor, in *EndpointPath) (*noContent, error) {
	return nil, h.registry.RemoveEndpoint(ctx, actor, in.ref(), in.Name)
}
