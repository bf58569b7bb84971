package catalog

import (
	"context"
	"net/url"

	"patchbay/internal/admin/shell"
	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/web/templates"
)

func categoryOptions(ctx context.Context, categories []catalog.Category) []templates.Option {
	options := []templates.Option{{Label: i18n.T(ctx, "All categories")}}
	for _, c := range categories {
		options = append(options, templates.Option{Value: string(c), Label: i18n.TranslateKnown(ctx, c.String())})
	}
	return options
}

func signInOptions(ctx context.Context) []templates.Option {
	options := []templates.Option{{Label: i18n.T(ctx, "Any sign-in")}}
	for _, t := range catalog.Auths {
		options = append(options, templates.Option{Value: string(t), Label: signInName(ctx, t)})
	}
	return options
}

// signInName words what a server asks for.
func signInName(ctx context.Context, t connectors.AuthType) string {
	switch t {
	case connectors.AuthOAuth2:
		return i18n.T(ctx, "Account (OAuth)")
	case connectors.AuthBearer:
		return i18n.T(ctx, "Access token")
	case connectors.AuthAPIKey:
		return i18n.T(ctx, "API key")
	case connectors.AuthBasic:
		return i18n.T(ctx, "Username and password")
	default:
		return i18n.T(ctx, "No sign-in")
	}
}

func catalogCard(ctx context.Context, o manage.Offer) templates.CatalogCard {
	card := templates.CatalogCard{
		Name: o.Name, Icon: templates.Monogram{Letters: o.Icon.Letters, Colour: o.Icon.Colour}, Publisher: o.Publisher, Category: i18n.TranslateKnown(ctx, o.Category.String()),
		Description: o.Description, URL: o.URL, SignIn: signInName(ctx, o.Auth), Note: o.Note, Docs: o.Docs, Own: o.Own,
		Add: "/catalog/" + url.PathEscape(o.Slug) + "/add",
	}
	if o.OwnClient {
		card.SignIn = i18n.T(ctx, "Account (OAuth), your own client ID")
	}
	if o.Transport == connectors.TransportAPI {
		card.Kind = i18n.T(ctx, "HTTP API")
	}
	if o.Added != nil {
		card.Added = &templates.Link{Text: o.Added.Name, Href: shell.ConnectorPath(o.Added.Slug)}
	}
	return card
}
