package manage

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
	"patchbay/internal/store"
)

// Endpoints lists the endpoints of an HTTP API by name.
func (r *Registry) Endpoints(ctx context.Context, tenant connectors.TenantID, ref connectors.Ref) (c connectors.Connector, all []openapi.Endpoint, err error) {
	var tools []connectors.APITool
	err = r.store.Tenant(tenant).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if c, err = getAPI(ctx, tx, ref); err != nil {
			return err
		}
		tools, err = tx.APIs().Tools(ctx, c.ID)
		return err
	})
	for _, t := range tools {
		if t.Endpoint == nil {
			continue
		}
		e, err := readEndpoint(t)
		if err != nil {
			return c, nil, err
		}
		all = append(all, e)
	}
	return c, all, err
}

// Endpoint returns an endpoint of an HTTP API.
func (r *Registry) Endpoint(ctx context.Context, tenant connectors.TenantID, ref connectors.Ref, name string) (c connectors.Connector, e openapi.Endpoint, err error) {
	c, all, err := r.Endpoints(ctx, tenant, ref)
	if err != nil {
		return c, e, err
	}
	i := slices.IndexFunc(all, func(e openapi.Endpoint) bool { return e.Name == name })
	if i < 0 {
		return c, e, errNoEndpoint
	}
	return c, all[i], nil
}

var errNoEndpoint = fault.Errorf(fault.NotFound, "No such endpoint.")

// AddEndpoint makes an endpoint a tool. Agents get it with the next sync.
func (r *Registry) AddEndpoint(ctx context.Context, a auth.Actor, ref connectors.Ref, e openapi.Endpoint) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return r.changeAPI(ctx, a, ref, func(api storedAPI) (change apiChange, err error) {
		tool, err := r.newEndpointTool(e)
		if err != nil {
			return change, err
		}
		change.save = []connectors.APITool{tool}
		change.event = endpointEvent(a, "endpoint.create", api.connector, nil, &e)
		return change, api.checkFreeName(e.Name, api.tools)
	})
}

// UpdateEndpoint changes an endpoint, its name included. edit may be called more than once. Agents get it with the next sync.
func (r *Registry) UpdateEndpoint(ctx context.Context, a auth.Actor, ref connectors.Ref, name string, edit func(*openapi.Endpoint)) (e openapi.Endpoint, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return e, err
	}
	err = r.changeAPI(ctx, a, ref, func(api storedAPI) (change apiChange, err error) {
		old, others, err := api.splitEndpoint(name)
		if err != nil {
			return change, err
		}
		before, err := readEndpoint(old)
		if err != nil {
			return change, err
		}
		e = before
		e.Headers = slices.Clone(e.Headers)
		edit(&e)
		tool, err := r.newEndpointTool(e)
		if err != nil {
			return change, err
		}
		if was, err := json.Marshal(before); err != nil || string(was) == string(tool.Endpoint) {
			return change, err
		}
		change.save = []connectors.APITool{tool}
		if e.Name != name {
			change.remove = []string{name}
		}
		change.event = endpointEvent(a, "endpoint.update", api.connector, &before, &e)
		return change, api.checkFreeName(e.Name, others)
	})
	return e, err
}

// RemoveEndpoint removes an endpoint. Agents lose it with the next sync.
func (r *Registry) RemoveEndpoint(ctx context.Context, a auth.Actor, ref connectors.Ref, name string) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return r.changeAPI(ctx, a, ref, func(api storedAPI) (change apiChange, err error) {
		old, _, err := api.splitEndpoint(name)
		if err != nil {
			return change, err
		}
		e, err := readEndpoint(old)
		change.remove = []string{name}
		change.event = endpointEvent(a, "endpoint.delete", api.connector, &e, nil)
		return change, err
	})
}

// splitEndpoint returns an endpoint, and the other tools.
func (api storedAPI) splitEndpoint(name string) (found connectors.APITool, others []connectors.APITool, err error) {
	isNamed := func(t connectors.APITool) bool { return t.Endpoint != nil && t.Key == name }
	i := slices.IndexFunc(api.tools, isNamed)
	if i < 0 {
		return found, nil, errNoEndpoint
	}
	return api.tools[i], slices.DeleteFunc(slices.Clone(api.tools), isNamed), nil
}

func readEndpoint(t connectors.APITool) (e openapi.Endpoint, err error) {
	if err := json.Unmarshal(t.Endpoint, &e); err != nil {
		return e, fmt.Errorf("read the endpoint %q: %w", t.Key, err)
	}
	return e, nil
}

// newEndpointTool returns a valid endpoint as it is stored.
func (r *Registry) newEndpointTool(e openapi.Endpoint) (connectors.APITool, error) {
	tool, err := e.Tool()
	if err != nil {
		return connectors.APITool{}, err
	}
	if _, err := r.egress.CheckURL(tool.Binding.Server); err != nil {
		return connectors.APITool{}, fault.InvalidFields(fault.Field{Location: "url", Message: egressSentence(err)})
	}
	if e.Filter != "" {
		if _, err := httpcall.CompileFilter(e.Filter); err != nil {
			return connectors.APITool{}, err
		}
	}
	if err := checkAnnotations(e.Annotations); err != nil {
		return connectors.APITool{}, err
	}
	if e.Pages != nil && (e.Pages.Max < 1 || e.Pages.Max > connectors.MaxAPIPages) {
		return connectors.APITool{}, fault.Errorf(fault.Invalid, "Follow at most %d pages.", connectors.MaxAPIPages)
	}
	text, err := json.Marshal(e)
	return connectors.APITool{Key: e.Name, Endpoint: text}, err
}

// endpointEvent records an endpoint before and after; nil: there is none.
func endpointEvent(a auth.Actor, action string, c connectors.Connector, before, after *openapi.Endpoint) store.Event {
	named := before
	if named == nil {
		named = after
	}
	e := a.Event(action, c.Slug+"/"+named.Name)
	e.Detail = map[string]any{"connector_id": c.ID.String()}
	for at, endpoint := range map[string]*openapi.Endpoint{"before_sha256": before, "after_sha256": after} {
		if endpoint != nil { // before and after are cut, and have no schemas
			stored, _ := json.Marshal(endpoint) // an endpoint always marshals
			e.Detail[at] = fmt.Sprintf("%x", sha256.Sum256(stored))
		}
	}
	e.Before, e.After = endpointState(before), endpointState(after)
	return e
}

func endpointState(e *openapi.Endpoint) store.State {
	if e == nil {
		return nil
	}
	state := store.State{
		"name": e.Name, "title": e.Title, "description": shortenText(e.Description), "method": e.Method, "url": e.URL, "headers": e.Headers,
		"media": e.Media, "body": shortenText(e.Body), "filter": e.Filter,
	}
	if len(e.Annotations) > 0 {
		state["annotations"] = e.Annotations
	}
	return state
}
