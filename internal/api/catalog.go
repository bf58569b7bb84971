package api

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/manage"
)

func (h *Handler) mountCatalog() {
	const tag = "Catalog"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/catalog", id: "listCatalog", tag: tag,
		summary: "List well-known MCP servers, by name", permission: connectors.PermRead,
		description: "All in one page: next_cursor is always null.",
	}, h.listCatalog)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/catalog/{slug}/add", id: "addFromCatalog", tag: tag,
		summary: "Create a connector from the catalog", permission: connectors.PermManage, status: http.StatusCreated,
		description: "The authentication is set up; add its credential next. 409 if a connector already uses the server.",
	}, h.addFromCatalog)
}

type listCatalogInput struct {
	Query    string `query:"q" doc:"Words that must each occur in the name, publisher, description, category or URL."`
	Category string `query:"category" enum:"development,documentation,infrastructure,observability,data,projects,knowledge,customers,finance,design,web,search,ai,communication,internal"`
	Auth     string `query:"auth" enum:"oauth2,bearer,api_key,basic,none"`
}

// offerJSON is a server of the catalog.
type offerJSON struct {
	Slug        string         `json:"slug"`
	Name        string         `json:"name"`
	Publisher   string         `json:"publisher" doc:"Who runs the server. May be empty for the operator's own entries."`
	Category    string         `json:"category"`
	Description string         `json:"description"`
	URL         string         `json:"url"`
	Transport   string         `json:"transport" enum:"streamable_http,sse,http,api" doc:"api: an HTTP API; url is its OpenAPI document."`
	Auth        offerAuthJSON  `json:"auth"`
	Note        *string        `json:"note" doc:"What to know before adding it."`
	Docs        *string        `json:"docs" doc:"Documentation URL."`
	Source      *string        `json:"source" doc:"The page with these facts."`
	Verified    *string        `json:"verified" doc:"When they were checked, such as 2026-11-21."`
	Icon        offerIconJSON  `json:"icon"`
	Own         bool           `json:"own" doc:"From the operator's own catalog file."`
	Connector   *offerHaveJSON `json:"connector" doc:"The connector that already uses it. Null if none."`
}

type offerAuthJSON struct {
	Type      string   `json:"type" enum:"oauth2,bearer,api_key,basic,none"`
	Header    *string  `json:"header" doc:"For api_key."`
	Scopes    []string `json:"scopes" nullable:"false" doc:"Scopes to request. Empty: those that the server names."`
	OwnClient bool     `json:"own_client" doc:"Clients cannot register themselves: set client_id."`
}

type offerIconJSON struct {
	Letters string `json:"letters"`
	Colour  string `json:"colour"`
}

type offerHaveJSON struct {
	Slug string `json:"slug"`
	Name string `json:"name"`
}

func (h *Handler) listCatalog(ctx context.Context, actor auth.Actor, in *listCatalogInput) (*response[list[offerJSON]], error) {
	offers, err := h.registry.Offers(ctx, actor, catalog.Filter{
		Query: in.Query, Category: catalog.Category(in.Category), Auth: connectors.AuthType(in.Auth),
	})
	if err != nil {
		return nil, err
	}
	out := list[offerJSON]{Items: make([]offerJSON, 0, len(offers))}
	for _, o := range offers {
		out.Items = append(out.Items, viewOffer(o))
	}
	return &response[list[offerJSON]]{Body: out}, nil
}

func viewOffer(o manage.Offer) offerJSON {
	out := offerJSON{
		Slug: o.Slug, Name: o.Name, Publisher: o.Publisher, Category: string(o.Category), Description: o.Description, URL: o.URL, Transport: string(o.Transport),
		Auth: offerAuthJSON{Type: string(o.Auth), Header: textOrNull(o.Header), Scopes: append([]string{}, o.Scopes...), OwnClient: o.OwnClient},
		Note: textOrNull(o.Note), Docs: textOrNull(o.Docs), Source: textOrNull(o.Source), Verified: textOrNull(o.Verified),
		Icon: offerIconJSON{Letters: o.Icon.Letters, Colour: o.Icon.Colour}, Own: o.Own,
	}
	if o.Added != nil {
		out.Connector = &offerHaveJSON{Slug: o.Added.Slug, Name: o.Added.Name}
	}
	return out
}

type addFromCatalogInput struct {
	Slug string `path:"slug" doc:"The server's slug in the catalog."`
}

func (h *Handler) addFromCatalog(ctx context.Context, actor auth.Actor, in *addFromCatalogInput) (*response[connectorJSON], error) {
	c, _, err := h.registry.AddOffer(ctx, actor, in.Slug)
	if err != nil {
		return nil, err
	}
	return h.connectorResponse(ctx, h.store.Tenant(actor.Tenant.ID), actor, c)
}
