package admin

import (
	"net/url"

	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/registry"
	"patchbay/web/templates"
)

func shelfOptions(shelves []catalog.Category) []templates.Option {
	options := []templates.Option{{Label: "All categories"}}
	for _, c := range shelves {
		options = append(options, templates.Option{Value: string(c), Label: c.String()})
	}
	return options
}

func signInOptions() []templates.Option {
	options := []templates.Option{{Label: "Any sign-in"}}
	for _, t := range catalog.Auths {
		options = append(options, templates.Option{Value: string(t), Label: signIn(t)})
	}
	return options
}

// signIn says what a server asks for, as a person has it at hand.
func signIn(t connectors.AuthType) string {
	switch t {
	case connectors.AuthOAuth2:
		return "Account (OAuth)"
	case connectors.AuthBearer:
		return "Access token"
	case connectors.AuthAPIKey:
		return "API key"
	case connectors.AuthBasic:
		return "User name and password"
	default:
		return "No sign-in"
	}
}

func catalogCard(o registry.Offer) templates.CatalogCard {
	card := templates.CatalogCard{
		Name: o.Name, Icon: templates.Monogram{Letters: o.Icon.Letters, Colour: o.Icon.Colour}, Publisher: o.Publisher, Category: o.Category.String(),
		Description: o.Description, URL: o.URL, SignIn: signIn(o.Auth), Note: o.Note, Docs: o.Docs, Own: o.Own,
		Add: "/catalog/" + url.PathEscape(o.Slug) + "/add",
	}
	if o.OwnClient {
		card.SignIn = "Account (OAuth), with a client id of yours"
	}
	if o.Added != nil {
		card.Added = &templates.Link{Text: o.Added.Name, Href: connectorPath(o.Added.Slug)}
	}
	return card
}
