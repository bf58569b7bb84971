package api

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/registry"
	"patchbay/internal/store"
)

// ConnectorPath names a connector.
type ConnectorPath struct {
	ID string `path:"id" doc:"A connector's id or slug."`
}

func (p ConnectorPath) ref() connectors.Ref { return connectors.Ref(p.ID) }

func (h *Handler) mountConnectors() {
	const tag = "Connectors"
	register(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors", id: "listConnectors", tag: tag,
		summary: "List the connectors, by name", may: connectors.PermRead,
	}, h.listConnectors)
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors", id: "createConnector", tag: tag,
		summary: "Register an MCP server", may: connectors.PermManage, status: http.StatusCreated,
	}, h.createConnector)
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/test", id: "testConnector", tag: tag,
		summary: "Try a connector without storing it", may: connectors.PermManage,
	}, h.testConnector)
	register(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}", id: "getConnector", tag: tag,
		summary: "Read a connector", may: connectors.PermRead,
	}, h.getConnector)
	register(h, operation{
		method: http.MethodPatch, path: "/api/v1/connectors/{id}", id: "updateConnector", tag: tag,
		summary: "Change a connector", may: connectors.PermManage,
	}, h.updateConnector)
	register(h, operation{
		method: http.MethodDelete, path: "/api/v1/connectors/{id}", id: "deleteConnector", tag: tag,
		summary: "Delete a connector, its tools and its credentials", may: connectors.PermManage,
		about: "Connected accounts are forgotten, and not revoked at their authorization servers: delete their credentials first where that matters.",
	}, h.deleteConnector)
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/listen", id: "listenToConnector", tag: tag,
		summary: "Listen for a server's changes again", may: connectors.PermManage,
		about: "Listening is switched off where a server misbehaves. One that is listened to, or does not tell of changes, stays as it is.",
	}, h.listenToConnector)
}

type listConnectorsInput struct {
	Paging
	Query  string `query:"q" doc:"A part of the name, slug or URL."`
	Status string `query:"status" enum:"never_synced,ok,error,needs_auth,disabled"`
}

func (h *Handler) listConnectors(ctx context.Context, who auth.Actor, in *listConnectorsInput) (*answer[list[connectorJSON]], error) {
	page, err := h.store.Tenant(who.Tenant.ID).Connectors(ctx, store.ConnectorFilter{
		Query: in.Query, Status: connectors.ConnectorStatus(in.Status), Page: in.page(),
	})
	if err != nil {
		return nil, err
	}
	view, err := h.viewing(ctx, who, page.Items...)
	if err != nil {
		return nil, err
	}
	return listOf(page, view), nil
}

type createConnectorInput struct{ JSON document[connectorCreate] }

func (h *Handler) createConnector(ctx context.Context, who auth.Actor, in *createConnectorInput) (*answer[connectorJSON], error) {
	draft, secret, later, err := readDraft(who, in.JSON)
	if err != nil {
		return nil, err
	}
	create := h.registry.CreateConnector
	if later {
		create = h.registry.CreateWithSecretLater
	}
	c, err := create(ctx, who, draft, secret)
	if err != nil {
		return nil, err
	}
	return h.connector(ctx, who, c)
}

// readDraft reads a new connector: the tenant's defaults, and what the document says over them. later: its secret may come afterwards.
func readDraft(who auth.Actor, body document[connectorCreate]) (_ connectors.Draft, _ connectors.Secret, later bool, _ error) {
	doc, err := body.read()
	if err != nil {
		return connectors.Draft{}, connectors.Secret{}, false, err
	}
	draft := who.Tenant.Defaults.Draft()
	connectorPatch(doc).apply(&draft)
	return draft, connectorPatch(doc).secret(), doc.SecretLater, nil
}

func (h *Handler) getConnector(ctx context.Context, who auth.Actor, in *ConnectorPath) (*answer[connectorJSON], error) {
	c, err := h.store.Tenant(who.Tenant.ID).Connector(ctx, in.ref())
	if err != nil {
		return nil, err
	}
	return h.connector(ctx, who, c)
}

type updateConnectorInput struct {
	ConnectorPath
	JSON document[connectorPatch]
}

func (h *Handler) updateConnector(ctx context.Context, who auth.Actor, in *updateConnectorInput) (*answer[connectorJSON], error) {
	patch, err := in.JSON.read()
	if err != nil {
		return nil, h.unlessMissing(ctx, who, in.ref(), nil, err)
	}
	secret, err := changedSecret(ctx, h.store.Tenant(who.Tenant.ID), in.ref(), patch)
	if err != nil {
		return nil, err
	}
	c, notices, err := h.registry.UpdateConnector(ctx, who, in.ref(), registry.Change{Draft: patch.apply, Secret: secret, SecretLater: patch.SecretLater})
	if err != nil {
		return nil, err
	}
	out, err := h.connector(ctx, who, c)
	if err != nil {
		return nil, err
	}
	out.Body.Notices = notices
	return out, nil
}

func (h *Handler) deleteConnector(ctx context.Context, who auth.Actor, in *ConnectorPath) (*nothing, error) {
	return nil, h.registry.DeleteConnector(ctx, who, in.ref())
}

// unlessMissing returns refused, or NotFound where the connector or the agent that the path names is missing: who may not
// know that a thing exists must not learn it from what is said of a body.
func (h *Handler) unlessMissing(ctx context.Context, who auth.Actor, c connectors.Ref, agent *connectors.Ref, refused error) error {
	tenant := h.store.Tenant(who.Tenant.ID)
	if _, err := tenant.Connector(ctx, c); err != nil {
		return err
	}
	if agent != nil {
		if _, err := tenant.Agent(ctx, *agent); err != nil {
			return err
		}
	}
	return refused
}
