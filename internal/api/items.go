package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// ItemTimes are what is stored of each item besides its definition.
type ItemTimes struct {
	FirstSeenAt time.Time `json:"first_seen_at"`
	ChangedAt   time.Time `json:"changed_at"`
	Defect      *string   `json:"defect" doc:"Why it is not served: MCP clients reject such an entry. Null if served."`
}

func viewItemTimes(i connectors.StoredItem) ItemTimes {
	out := ItemTimes{FirstSeenAt: i.FirstSeenAt, ChangedAt: i.ChangedAt}
	if defect := agentview.ItemDefect(i.Item); defect != "" {
		out.Defect = &defect
	}
	return out
}

// promptArgumentJSON is an argument of a prompt.
type promptArgumentJSON struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

func viewArguments(all []connectors.PromptArgument) []promptArgumentJSON {
	out := make([]promptArgumentJSON, len(all))
	for i, a := range all {
		out[i] = promptArgumentJSON(a)
	}
	return out
}

// promptJSON is a prompt of a connector. Upstream values keep their spelling.
type promptJSON struct {
	Name        string               `json:"name"`
	Title       string               `json:"title"`
	Description string               `json:"description"`
	Arguments   []promptArgumentJSON `json:"arguments" nullable:"false"`
	ItemTimes
}

func viewPrompt(i connectors.StoredItem) promptJSON {
	v := connectors.DecodeItem(i.Raw)
	return promptJSON{Name: i.Key, Title: v.Title, Description: v.Description, Arguments: viewArguments(v.Arguments), ItemTimes: viewItemTimes(i)}
}

// resourceJSON is a resource of a connector.
type resourceJSON struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MIMEType    string `json:"mime_type" doc:"Empty if not stated."`
	Size        *int64 `json:"size" doc:"In bytes. Null if not stated."`
	ItemTimes
}

func viewResource(i connectors.StoredItem) resourceJSON {
	v := connectors.DecodeItem(i.Raw)
	return resourceJSON{
		URI: i.Key, Name: v.Name, Title: v.Title, Description: v.Description, MIMEType: v.MIMEType, Size: v.Size, ItemTimes: viewItemTimes(i),
	}
}

// resourceTemplateJSON is a resource template of a connector.
type resourceTemplateJSON struct {
	URITemplate string `json:"uri_template" doc:"RFC 6570."`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MIMEType    string `json:"mime_type" doc:"For all its resources. Empty if not stated."`
	ItemTimes
}

func viewResourceTemplate(i connectors.StoredItem) resourceTemplateJSON {
	v := connectors.DecodeItem(i.Raw)
	return resourceTemplateJSON{URITemplate: i.Key, Name: v.Name, Title: v.Title, Description: v.Description, MIMEType: v.MIMEType, ItemTimes: viewItemTimes(i)}
}

type connectorItemsInput struct {
	ConnectorPath
	Paging
	Query string `query:"q" doc:"Part of the name, title, description or URI, ignoring case."`
}

const aboutItems = "As of the last sync, in the server's order. Grants decide which of them an agent may use."

func (h *Handler) mountConnectorItems() {
	const tag = "Tools"
	prompts := connectorItems[promptJSON]{h, connectors.ItemPrompt, viewPrompt}
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/prompts", id: "listConnectorPrompts", tag: tag,
		summary: "List a connector's prompts", description: aboutItems, permission: connectors.PermRead,
	}, prompts.listPage)
	resources := connectorItems[resourceJSON]{h, connectors.ItemResource, viewResource}
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/resources", id: "listConnectorResources", tag: tag,
		summary: "List a connector's resources", description: aboutItems, permission: connectors.PermRead,
	}, resources.listPage)
	templates := connectorItems[resourceTemplateJSON]{h, connectors.ItemTemplate, viewResourceTemplate}
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/resource_templates", id: "listConnectorResourceTemplates", tag: tag,
		summary: "List a connector's resource templates", description: aboutItems, permission: connectors.PermRead,
	}, templates.listPage)
}

// connectorItems lists the items of one kind.
type connectorItems[T any] struct {
	h    *Handler
	kind connectors.ItemKind
	view func(connectors.StoredItem) T
}

func (l connectorItems[T]) listPage(ctx context.Context, actor auth.Actor, in *connectorItemsInput) (out *response[list[T]], err error) {
	err = l.h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, in.ref())
		if err != nil {
			return err
		}
		page, err := tx.Connectors().ListItems(ctx, store.ItemFilter{Connector: c.ID, Kind: l.kind, Query: in.Query, Page: in.toPage()})
		if err != nil {
			return err
		}
		out = newListResponse(page, l.view)
		return nil
	})
	return out, err
}
