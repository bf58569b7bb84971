package api

import (
	"context"
	"net/http"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/manage"
	"patchbay/internal/store"
)

// ConnectorPath is the path of a connector.
type ConnectorPath struct {
	ID string `path:"id" doc:"A connector's id or slug."`
}

func (p ConnectorPath) ref() connectors.Ref { return connectors.Ref(p.ID) }

func (h *Handler) mountConnectors() {
	const tag = "Connectors"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors", id: "listConnectors", tag: tag,
		summary: "List connectors, by name", permission: connectors.PermRead,
	}, h.listConnectors)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors", id: "createConnector", tag: tag,
		summary: "Create a connector", permission: connectors.PermManage, status: http.StatusCreated, hasDocument: true,
	}, h.createConnector)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/test", id: "testConnector", tag: tag,
		summary: "Test a connector without storing it", permission: connectors.PermManage, hasDocument: true,
	}, h.testConnector)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}", id: "getConnector", tag: tag,
		summary: "Get a connector", permission: connectors.PermRead,
	}, h.getConnector)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/connectors/{id}", id: "updateConnector", tag: tag,
		summary: "Update a connector", permission: connectors.PermManage, hasDocument: true,
	}, h.updateConnector)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/connectors/{id}", id: "deleteConnector", tag: tag,
		summary: "Delete a connector, its tools and its credentials", permission: connectors.PermManage,
		description: "Connected accounts are then revoked at their authorization servers, retried for up to a day.",
	}, h.deleteConnector)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/listen", id: "listenToConnector", tag: tag,
		summary: "Resume listening for a server's changes", permission: connectors.PermManage,
		description: "Listening stops when a server misbehaves. No effect if already listening, or if the server does not announce changes.",
	}, h.listenToConnector)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/acknowledge_tools", id: "acknowledgeTools", tag: tag,
		summary: "Acknowledge vanished tools", permission: connectors.PermManage,
		description: "Sets tools_vanished to null. No effect if no tools vanished.",
	}, h.acknowledgeTools)
}

type listConnectorsInput struct {
	Paging
	Query  string `query:"q" doc:"Part of the name, slug or URL."`
	Status string `query:"status" enum:"never_synced,ok,error,needs_auth,disabled"`
	Tag    string `query:"tag" doc:"Only connectors with this tag."`
}

func (h *Handler) listConnectors(ctx context.Context, actor auth.Actor, in *listConnectorsInput) (*response[list[connectorJSON]], error) {
	var page store.List[connectors.Connector]
	var view func(connectors.Connector) connectorJSON
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		page, err = tx.Connectors().List(ctx, store.ConnectorFilter{
			Query: in.Query, Status: connectors.ConnectorStatus(in.Status), Tag: strings.ToLower(in.Tag), Page: in.toPage(),
		})
		if err != nil {
			return err
		}
		view, err = h.newConnectorView(ctx, tx, actor, page.Items...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newListResponse(page, view), nil
}

type createConnectorInput struct{ JSON requestBody[connectorCreate] }

func (h *Handler) createConnector(ctx context.Context, actor auth.Actor, in *createConnectorInput) (*response[connectorJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	draft, secret := doc.toDraft(actor)
	content, isAPI, err := doc.toContent(&draft)
	if err != nil {
		return nil, err
	}
	var c connectors.Connector
	switch {
	case isAPI:
		c, err = h.registry.CreateAPI(ctx, actor, draft, secret, content, doc.SecretLater)
	case doc.SecretLater:
		c, err = h.registry.CreateWithSecretLater(ctx, actor, draft, secret)
	default:
		c, err = h.registry.CreateConnector(ctx, actor, draft, secret)
	}
	if err != nil {
		return nil, err
	}
	return h.connectorResponse(ctx, h.store.Tenant(actor.Tenant.ID), actor, c)
}

// toDraft returns a new connector over the tenant's defaults.
func (doc connectorCreate) toDraft(actor auth.Actor) (connectors.Draft, connectors.Secret) {
	draft := actor.Tenant.Defaults.Draft()
	doc.apply(&draft)
	return draft, doc.toSecret()
}

func (h *Handler) getConnector(ctx context.Context, actor auth.Actor, in *ConnectorPath) (*response[connectorJSON], error) {
	var out *response[connectorJSON]
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, in.ref())
		if err != nil {
			return err
		}
		out, err = h.connectorResponse(ctx, tx, actor, c)
		return err
	})
	return out, err
}

type updateConnectorInput struct {
	ConnectorPath
	JSON requestBody[connectorPatch]
}

// toDraftChange returns the change of the settings. The URL of a document is the connector's.
func (p connectorPatch) toDraftChange() func(*connectors.Draft) {
	return func(d *connectors.Draft) {
		p.apply(d)
		if p.DocumentURL != "" {
			d.URL = p.DocumentURL
		}
	}
}

func (h *Handler) updateConnector(ctx context.Context, actor auth.Actor, in *updateConnectorInput) (*response[connectorJSON], error) {
	patch, err := in.JSON.readJSON()
	if err != nil {
		return nil, h.orNotFound(ctx, actor, in.ref(), nil, err)
	}
	if err := patch.DocumentInput.checkFields(); err != nil {
		return nil, h.orNotFound(ctx, actor, in.ref(), nil, err)
	}
	secret, err := changedSecret(ctx, h.store.Tenant(actor.Tenant.ID).Connectors(), in.ref(), patch.ConnectorFields)
	if err != nil {
		return nil, err
	}
	c, notices, err := h.registry.UpdateConnector(ctx, actor, in.ref(), manage.Change{
		Draft: patch.toDraftChange(), Secret: secret, SecretLater: patch.SecretLater, ConfirmMove: patch.Confirm,
		Document: patch.documentText(), FetchDocument: patch.DocumentURL != "",
	})
	if err != nil {
		return nil, err
	}
	out, err := h.connectorResponse(ctx, h.store.Tenant(actor.Tenant.ID), actor, c)
	if err != nil {
		return nil, err
	}
	out.Body.Notices = notices
	return out, nil
}

func (h *Handler) deleteConnector(ctx context.Context, actor auth.Actor, in *ConnectorPath) (*noContent, error) {
	return nil, h.registry.DeleteConnector(ctx, actor, in.ref())
}

// orNotFound returns refused, or NotFound if the connector or agent in the path does not exist. A caller must
// not learn from a body's error that a thing exists.
func (h *Handler) orNotFound(ctx context.Context, actor auth.Actor, c connectors.Ref, agent *connectors.Ref, refused error) error {
	tenant := h.store.Tenant(actor.Tenant.ID)
	if _, err := tenant.Connectors().Get(ctx, c); err != nil {
		return err
	}
	if agent != nil {
		if _, err := tenant.Agents().Get(ctx, *agent); err != nil {
			return err
		}
	}
	return refused
}
