package manage

import (
	"context"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Offer is a catalog entry with the tenant's connector for it.
type Offer struct {
	catalog.Entry
	Added *store.ConnectorAt // the first connector with its URL; nil: none
}

// Categories returns the catalog's categories that have an entry.
func (r *Registry) Categories() []catalog.Category {
	if r.catalog == nil {
		return nil
	}
	return r.catalog.UsedCategories()
}

// Offers returns the catalog entries that a filter selects, by name, with one query.
func (r *Registry) Offers(ctx context.Context, a auth.Actor, f catalog.Filter) ([]Offer, error) {
	if err := a.Require(connectors.PermRead); err != nil {
		return nil, err
	}
	if r.catalog == nil {
		return nil, nil
	}
	entries := r.catalog.Entries(f)
	added, err := r.findAdded(ctx, a, entries)
	if err != nil {
		return nil, err
	}
	offers := make([]Offer, 0, len(entries))
	for _, e := range entries {
		offers = append(offers, Offer{Entry: e, Added: added(e)})
	}
	return offers, nil
}

// CatalogIcon returns the icon of the catalog's server at a URL, as [catalog.Catalog.IconAt].
func (r *Registry) CatalogIcon(url string) (catalog.Icon, bool) {
	if r.catalog == nil || url == "" {
		return catalog.Icon{}, false
	}
	return r.catalog.IconAt(url)
}

// AddOffer creates a connector from a catalog entry, without its credential. It refuses an entry that the
// tenant already has. The document of an HTTP API is fetched.
func (r *Registry) AddOffer(ctx context.Context, a auth.Actor, slug string) (connectors.Connector, catalog.Entry, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Connector{}, catalog.Entry{}, err
	}
	if r.catalog == nil {
		return connectors.Connector{}, catalog.Entry{}, fault.Errorf(fault.NotFound, "No catalog here.")
	}
	e, err := r.catalog.Find(slug)
	if err != nil {
		return connectors.Connector{}, e, err
	}
	added, err := r.findAdded(ctx, a, []catalog.Entry{e})
	if err != nil {
		return connectors.Connector{}, e, err
	}
	if have := added(e); have != nil {
		return connectors.Connector{}, e, fault.Errorf(fault.Conflict,
			"The connector %q already uses this server. For a second account, add a connector manually.", have.Name)
	}
	d := e.Over(a.Tenant.Defaults.Draft()).Normalized()
	if d.Transport == connectors.TransportAPI {
		d.Slug = "" // a free one
		c, err := r.CreateAPI(ctx, a, d, connectors.Secret{}, APIContent{}, true)
		return c, e, err
	}
	if err := r.checkDraft(d, connectors.Secret{}, false); err != nil {
		return connectors.Connector{}, e, err
	}
	c, err := r.insertWithFreeSlug(ctx, a, d, connectors.Secret{}, false)
	return c, e, err
}

// findAdded finds the tenant's connectors for catalog entries. The query of a connector's URL may be its own: a
// project, or a restriction.
func (r *Registry) findAdded(ctx context.Context, a auth.Actor, entries []catalog.Entry) (func(catalog.Entry) *store.ConnectorAt, error) {
	urls := make([]string, 0, len(entries))
	for _, e := range entries {
		urls = append(urls, e.URL)
	}
	found, err := r.store.Tenant(a.Tenant.ID).Connectors().At(ctx, urls)
	if err != nil {
		return nil, err
	}
	return func(e catalog.Entry) *store.ConnectorAt {
		want := normalizeURL(e.URL)
		for i, c := range found {
			key := normalizeURL(c.URL)
			if strings.HasSuffix(want, "?") {
				key, _, _ = strings.Cut(key, "?")
				key += "?"
			}
			if key == want {
				return &found[i]
			}
		}
		return nil
	}, nil
}
