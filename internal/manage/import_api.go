package manage

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// maxImportedURLs bounds the documents that an import requests, one after another.
const maxImportedURLs = 50

func countFetched(entries []clientconfig.Entry) (n int) {
	for _, e := range entries {
		if e.API != nil && e.API.IsFetched {
			n++
		}
	}
	return n
}

// newEntryContent returns the content of an HTTP API of an entry.
func newEntryContent(a clientconfig.API) APIContent {
	content := APIContent{Document: a.Document, FetchDocument: a.IsFetched, NoDocument: !a.IsFetched && a.Document == nil, Endpoints: a.Endpoints}
	for _, o := range a.Operations {
		content.Operations = append(content.Operations, o.Key)
		content.Settings = append(content.Settings, OperationChange{Key: o.Key, Filter: &o.Filter, MaxPages: &o.MaxPages, Annotations: o.Annotations})
	}
	return content
}

// createAPIFromEntry creates a connector to an HTTP API. A dry run requests no document, so that it does not check what is
// picked of one.
func (im *documentImport) createAPIFromEntry(ctx context.Context, e clientconfig.Entry, d connectors.Draft, s connectors.Secret, done *ImportedEntry) error {
	content := newEntryContent(*e.API)
	if im.registry.isDryRun && content.FetchDocument {
		content.FetchDocument, content.NoDocument, content.Operations, content.Settings = false, true, nil, nil
	}
	if e.Unnamed {
		d.Slug = ""
	}
	c, err := im.registry.CreateAPI(ctx, im.actor, d, s, content, true)
	if err != nil {
		return err
	}
	im.recordCreated(c, d, s, e, done)
	return nil
}

// changedDocument returns the uploaded document of an entry if it is not the stored one.
func (im *documentImport) changedDocument(ctx context.Context, e clientconfig.Entry, old connectors.Connector) ([]byte, error) {
	if e.API == nil || e.API.Document == nil || old.Transport != connectors.TransportAPI {
		return nil, nil
	}
	stored, err := orNone(im.registry.store.Tenant(im.actor.Tenant.ID).APIs().DocumentInfo(ctx, old.ID))
	if err != nil || stored != nil && stored.Hash == sha256.Sum256(e.API.Document) {
		return nil, err
	}
	return e.API.Document, nil
}

// updateToolsFromEntry makes operations and endpoints of an HTTP API those that an entry states.
func (im *documentImport) updateToolsFromEntry(ctx context.Context, e clientconfig.Entry, old connectors.Connector, done *ImportedEntry) error {
	if e.API == nil || e.API.Operations == nil && e.API.Endpoints == nil {
		return nil
	}
	changed, err := im.registry.replaceTools(ctx, im.actor, old.ID, *e.API)
	if changed && err == nil {
		done.Outcome, done.Changed = Updated, append(done.Changed, "operations")
	}
	return err
}

// replaceTools makes exactly these operations and endpoints tools. Those that are nil stay as they are.
func (r *Registry) replaceTools(ctx context.Context, a auth.Actor, id connectors.ConnectorID, wanted clientconfig.API) (changed bool, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return false, err
	}
	err = r.changeAPI(ctx, a, connectors.Ref(id.String()), func(api storedAPI) (change apiChange, err error) {
		replaced := func(t connectors.APITool) bool {
			return t.Endpoint == nil && wanted.Operations != nil || t.Endpoint != nil && wanted.Endpoints != nil
		}
		fresh := api
		fresh.tools = slices.DeleteFunc(slices.Clone(api.tools), replaced)
		tools, err := r.newTools(fresh, newEntryContent(wanted))
		if err != nil {
			return change, err
		}
		setScopes(api.parsed, tools)
		for _, t := range tools {
			i := slices.IndexFunc(api.tools, func(old connectors.APITool) bool { return old.Key == t.Key })
			same := false
			if i >= 0 {
				if same, err = isSameContent(api.tools[i], t); err != nil {
					return change, err
				}
			}
			if !same {
				change.save = append(change.save, t)
			}
		}
		for _, t := range api.tools {
			if replaced(t) && !slices.ContainsFunc(tools, func(next connectors.APITool) bool { return next.Key == t.Key }) {
				change.remove = append(change.remove, t.Key)
			}
		}
		changed = !change.isEmpty()
		change.event = a.Event("connector.update", api.connector.Slug)
		change.event.Detail = map[string]any{"connector_id": api.connector.ID.String()}
		change.event.Before, change.event.After = toolsState(api.tools), toolsState(change.applyTo(api.tools))
		return change, nil
	})
	return changed, err
}

// isSameContent reports whether a stored tool is the same as a new one. The database may have formatted its endpoint.
func isSameContent(stored, t connectors.APITool) (bool, error) {
	if stored.Endpoint != nil {
		e, err := readEndpoint(stored)
		if err != nil {
			return false, err
		}
		if stored.Endpoint, err = json.Marshal(e); err != nil {
			return false, err
		}
	}
	if stored.Name == "" { // the next document names it
		t.Name = ""
	}
	return isSameTool(stored, t), nil
}

// toolsState is operations and endpoints, for the audit log.
func toolsState(tools []connectors.APITool) store.State {
	state := operationsState(tools)
	for _, t := range tools {
		if t.Endpoint != nil {
			state[t.Key+" endpoint"] = shortenText(string(t.Endpoint))
		}
	}
	return state
}
