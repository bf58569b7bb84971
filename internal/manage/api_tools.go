package manage

import (
	"context"
	"encoding/json"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
	"patchbay/internal/store"
)

// SaveEndpoint stores an endpoint of an HTTP API. before is the name of the one that it replaces; empty: it is new.
func (r *Registry) SaveEndpoint(ctx context.Context, a auth.Actor, ref connectors.Ref, before string, e openapi.Endpoint) error {
	tool, err := endpointTool(e)
	if err != nil {
		return err
	}
	return r.changeAPITools(ctx, a, ref, func(tx *store.Tenant, c connectors.Connector, tools []connectors.APITool) error {
		old := findAPITool(tools, before)
		switch {
		case before != "" && (old == nil || old.Endpoint == nil):
			return fault.Errorf(fault.NotFound, "No such endpoint.")
		case e.Name != before && findAPITool(tools, e.Name) != nil:
			return fault.Errorf(fault.Conflict, "Another endpoint has this name.")
		case before == "" && len(tools) >= connectors.MaxAPITools:
			return fault.Errorf(fault.Invalid, "Pick at most %d operations and endpoints.", connectors.MaxAPITools)
		}
		if before != "" && e.Name != before {
			if _, err := tx.APIs().RemoveTools(ctx, c.ID, []string{before}); err != nil {
				return err
			}
		}
		return tx.APIs().SaveTools(ctx, c.ID, []connectors.APITool{tool})
	})
}

// DeleteEndpoint removes an endpoint of an HTTP API.
func (r *Registry) DeleteEndpoint(ctx context.Context, a auth.Actor, ref connectors.Ref, name string) error {
	return r.changeAPITools(ctx, a, ref, func(tx *store.Tenant, c connectors.Connector, tools []connectors.APITool) error {
		if old := findAPITool(tools, name); old == nil || old.Endpoint == nil {
			return fault.Errorf(fault.NotFound, "No such endpoint.")
		}
		_, err := tx.APIs().RemoveTools(ctx, c.ID, []string{name})
		return err
	})
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
	return r.changeAPITools(ctx, a, ref, func(tx *store.Tenant, c connectors.Connector, tools []connectors.APITool) error {
		t := findAPITool(tools, key)
		if t == nil {
			return fault.Errorf(fault.NotFound, "No such tool.")
		}
		if t.Endpoint == nil {
			t.Filter, t.MaxPages = filter, maxPages
			return tx.APIs().SaveTools(ctx, c.ID, []connectors.APITool{*t})
		}
		var e openapi.Endpoint
		if err := json.Unmarshal(t.Endpoint, &e); err != nil {
			return err
		}
		e.Filter = filter
		changed, err := endpointTool(e)
		if err != nil {
			return err
		}
		return tx.APIs().SaveTools(ctx, c.ID, []connectors.APITool{changed})
	})
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

// changeAPITools changes the tools of an HTTP API in a transaction, with an audit entry.
func (r *Registry) changeAPITools(
	ctx context.Context, a auth.Actor, ref connectors.Ref, change func(*store.Tenant, connectors.Connector, []connectors.APITool) error,
) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return r.tx(ctx, a, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, ref)
		if err != nil {
			return err
		}
		if c.Transport != connectors.TransportAPI {
			return fault.Errorf(fault.Invalid, "%s is an MCP server. It has no endpoints.", c.Name)
		}
		before, err := tx.APIs().Tools(ctx, c.ID)
		if err != nil {
			return err
		}
		if err := change(tx, c, before); err != nil {
			return err
		}
		after, err := tx.APIs().Tools(ctx, c.ID)
		if err != nil {
			return err
		}
		e := a.Event("connector.update", c.Slug)
		e.Detail = map[string]any{"connector_id": c.ID.String()}
		e.Before, e.After = store.State{"operations": keysOf(before)}, store.State{"operations": keysOf(after)}
		return tx.Audit().Record(ctx, e)
	})
}

func findAPITool(tools []connectors.APITool, key string) *connectors.APITool {
	for i := range tools {
		if tools[i].Key == key {
			return &tools[i]
		}
	}
	return nil
}
