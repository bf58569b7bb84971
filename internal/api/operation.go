package api

import (
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// operation is one route.
type operation struct {
	method  string
	path    string
	id      string // operationId in the document
	tag     string
	summary string
	about   string                // what else is to be known; may be empty
	may     connectors.Permission // which a caller needs
	own     connectors.Permission // which does for the member whose agent the request names; empty: nothing does
	status  int                   // of success; 0: 200, or 204 without a body
	also    []int                 // further statuses of success, with the same body
	gate    gate                  // where requests wait for their turn; nil: nowhere
}

// handlerFunc answers an operation for an actor whose role was checked.
type handlerFunc[I, O any] func(ctx context.Context, who auth.Actor, in *I) (*O, error)

// register mounts an operation and documents it.
func register[I, O any](h *Handler, op operation, handle handlerFunc[I, O]) {
	body := bodyOf[I](h.huma.OpenAPI().Components.Schemas)
	described := huma.Operation{
		OperationID:   op.id,
		Method:        op.method,
		Path:          op.path,
		Summary:       op.summary,
		Description:   op.about,
		Tags:          []string{op.tag},
		DefaultStatus: op.status,
		Metadata:      map[string]any{bodyKey: body, alsoKey: op.also},
		Middlewares:   huma.Middlewares{h.require(op.may, op.own)},
		Extensions:    map[string]any{"x-least-role": connectors.LeastRole(op.may), "x-permission": op.may},
	}
	if op.own != "" {
		described.Extensions["x-own-agent"] = op.own
	}
	h.asking(&described)
	if op.gate != nil {
		described.Middlewares = append(described.Middlewares, h.through(op.gate))
	}
	huma.Register(h.huma, described, func(ctx context.Context, in *I) (*O, error) {
		who, ok := auth.ActorFrom(ctx)
		if !ok {
			return nil, failure{errNobody}
		}
		out, err := handle(ctx, who, in)
		if err != nil {
			return nil, failure{err}
		}
		return out, nil
	})
}

var errNobody = fault.Errorf(fault.Unauthenticated, "No caller is established.")

// bodyOf finds the document in an input type. Without one, schema is nil.
func bodyOf[I any](registry huma.Registry) bodySchema {
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

// documenting is a huma API whose operations are completed before they stand in the document: the body, which huma must
// not read for us, and our own form of errors.
type documenting struct{ huma.API }

// DocumentOperation implements huma.OperationDocumenter.
func (d documenting) DocumentOperation(op *huma.Operation) {
	if body, _ := op.Metadata[bodyKey].(bodySchema); body.schema != nil {
		op.RequestBody = &huma.RequestBody{
			Required: body.required,
			Content:  map[string]*huma.MediaType{"application/json": {Schema: body.schema}},
		}
	}
	op.Responses["default"] = &huma.Response{
		Description: "A problem (RFC 9457).",
		Content: map[string]*huma.MediaType{
			"application/problem+json": {Schema: &huma.Schema{Ref: schemaPrefix + "Problem"}},
		},
	}
	op.Responses["429"] = &huma.Response{
		Description: "A problem (RFC 9457): requests come too fast, or too much of this is under way. Retry-After says when to come again.",
		Headers:     map[string]*huma.Param{"Retry-After": {Description: "In how many seconds.", Schema: &huma.Schema{Type: huma.TypeInteger}}},
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
