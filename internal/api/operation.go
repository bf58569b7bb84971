package api

import (
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/middleware"
)

// operation is one route.
type operation struct {
	method          string
	path            string
	id              string // operationId in the document
	tag             string
	summary         string
	description     string                // may be empty
	permission      connectors.Permission // required of the caller
	ownerPermission connectors.Permission // enough for the owner of the agent in the request; empty: none is
	status          int                   // of success; 0: 200, or 204 without a body
	otherStatuses   []int                 // further statuses of success, with the same body
	gate            responseGate          // bounds concurrent requests; nil: no bound
	hasDocument     bool                  // the member document of the body may be as large as a document of an HTTP API
}

// handlerFunc handles an operation for an authorized actor.
type handlerFunc[I, O any] func(ctx context.Context, actor auth.Actor, in *I) (*O, error)

// registerOperation mounts an operation and documents it.
func registerOperation[I, O any](h *Handler, op operation, handle handlerFunc[I, O]) {
	body := findBodySchema[I](h.huma.OpenAPI().Components.Schemas)
	body.hasDocument = op.hasDocument
	described := huma.Operation{
		OperationID:   op.id,
		Method:        op.method,
		Path:          op.path,
		Summary:       op.summary,
		Description:   op.description,
		Tags:          []string{op.tag},
		DefaultStatus: op.status,
		Metadata:      map[string]any{bodyKey: body, alsoKey: op.otherStatuses},
		Middlewares:   huma.Middlewares{h.requirePermission(op.permission, op.ownerPermission)},
		Extensions:    map[string]any{"x-least-role": connectors.LowestRole(op.permission), "x-permission": op.permission},
	}
	if op.ownerPermission != "" {
		described.Extensions["x-own-agent"] = op.ownerPermission
	}
	h.markDangerous(&described)
	if op.hasDocument {
		described.Middlewares = append(described.Middlewares, allowDocument)
	}
	if op.gate != nil {
		described.Middlewares = append(described.Middlewares, h.limitByGate(op.gate))
	}
	huma.Register(h.huma, described, func(ctx context.Context, in *I) (*O, error) {
		actor, ok := auth.ActorFrom(ctx)
		if !ok {
			return nil, failure{errNoCaller}
		}
		out, err := handle(ctx, actor, in)
		if err != nil {
			return nil, failure{err}
		}
		return out, nil
	})
}

// allowDocument raises the limit of a request's body.
func allowDocument(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	middleware.SetBodyLimit(w, r, middleware.MaxDocumentBody)
	next(ctx)
}

var errNoCaller = fault.Errorf(fault.Unauthenticated, "No caller is established.")

// findBodySchema finds the body in an input type. Without one, schema is nil.
func findBodySchema[I any](registry huma.Registry) bodySchema {
	input := reflect.TypeFor[I]()
	for i := range input.NumField() {
		doc, ok := reflect.Zero(input.Field(i).Type).Interface().(interface {
			goType() reflect.Type
			required() bool
		})
		if ok {
			return bodySchema{registry: registry, schema: registry.Schema(doc.goType(), true, ""), required: doc.required()}
		}
	}
	return bodySchema{}
}

// documentedAPI completes operations in the document: with the body, which huma must not read, and with our
// error type.
type documentedAPI struct{ huma.API }

// DocumentOperation implements huma.OperationDocumenter.
func (d documentedAPI) DocumentOperation(op *huma.Operation) {
	if body, _ := op.Metadata[bodyKey].(bodySchema); body.schema != nil {
		op.RequestBody = &huma.RequestBody{
			Required: body.required,
			Content:  map[string]*huma.MediaType{"application/json": {Schema: body.schema}},
		}
	}
	op.Responses["default"] = &huma.Response{
		Description: "Problem (RFC 9457)",
		Content: map[string]*huma.MediaType{
			"application/problem+json": {Schema: &huma.Schema{Ref: schemaPrefix + "Problem"}},
		},
	}
	op.Responses["429"] = &huma.Response{
		Description: "Too many requests, or too many running at once. Retry after Retry-After.",
		Headers:     map[string]*huma.Param{"Retry-After": {Description: "Seconds to wait.", Schema: &huma.Schema{Type: huma.TypeInteger}}},
		Content:     op.Responses["default"].Content,
	}
	also, _ := op.Metadata[alsoKey].([]int)
	for _, status := range also {
		response := *op.Responses[strconv.Itoa(op.DefaultStatus)]
		response.Description = http.StatusText(status)
		op.Responses[strconv.Itoa(status)] = &response
	}
	d.OpenAPI().AddOperation(op)
}
