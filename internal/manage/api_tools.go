package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
)

// SaveEndpoint stores an endpoint of an HTTP API. before is the name of the one that it replaces; empty: it is new.
func (r *Registry) SaveEndpoint(ctx context.Context, a auth.Actor, ref connectors.Ref, before string, e openapi.Endpoint) error {
	if before == "" {
		return r.AddEndpoint(ctx, a, ref, e)
	}
	_, err := r.UpdateEndpoint(ctx, a, ref, before, func(old *openapi.Endpoint) { *old = e })
	return err
}

// SaveAnswer stores how the answer of a picked operation or of an endpoint, by key, becomes the result: a jq filter, and the pages
// that are followed.
func (r *Registry) SaveAnswer(ctx context.Context, a auth.Actor, ref connectors.Ref, key, filter string, maxPages int) error {
	if err := CheckFilter(filter); err != nil {
		return err
	}
	if maxPages < 0 || maxPages > openapi.MaxPages {
		return fault.InvalidFields(fault.Field{Location: "max_pages", Message: "Enter a number from 1 to 20."})
	}
	_, err := r.UpdateEndpoint(ctx, a, ref, key, func(e *openapi.Endpoint) { e.Filter = filter })
	if fault.Is(err, fault.NotFound) {
		return r.ChangeOperations(ctx, a, ref, nil, nil, []OperationChange{{Key: key, Filter: &filter, MaxPages: &maxPages}})
	}
	return err
}

// SaveAnnotations stores the annotations of a picked operation or of an endpoint, by key, in place of those that follow from the
// method. Like any change of a tool, they are reviewed after the next sync.
func (r *Registry) SaveAnnotations(ctx context.Context, a auth.Actor, ref connectors.Ref, key string, annotations map[string]bool) error {
	_, err := r.UpdateEndpoint(ctx, a, ref, key, func(e *openapi.Endpoint) { e.Annotations = annotations })
	if fault.Is(err, fault.NotFound) {
		return r.ChangeOperations(ctx, a, ref, nil, nil, []OperationChange{{Key: key, Annotations: annotations}})
	}
	return err
}

// CheckFilter returns a fault about the field filter if a jq filter cannot be used.
func CheckFilter(filter string) error {
	if len(filter) > connectors.MaxAPIFilter {
		return fault.InvalidFields(fault.Field{Location: "filter", Message: "The filter is too long."})
	}
	if filter == "" {
		return nil
	}
	if _, err := httpcall.CompileFilter(filter); err != nil {
		return fault.InvalidFields(fault.Field{Location: "filter", Message: fault.As(err).Message})
	}
	return nil
}
