package registry

import (
	"context"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Offer is a server of the catalog, and whether the tenant has it.
type Offer struct {
	catalog.Entry
	Added *store.ConnectorAt // the first connector that leads to its URL; nil: there is none
}

// Shelves are the categories of the catalog that have a server.
func (r *Registry) Shelves() []catalog.Category {
	if r.offered == nil {
		return nil
	}
	return r.offered.Shelves()
}

// Offers are the servers of the catalog that a filter lets through, by name. It is one query, however many they are.
func (r *Registry) Offers(ctx context.Context, a auth.Actor, f catalog.Filter) ([]Offer, error) {
	if err := a.Require(connectors.PermRead); err != nil {
		return nil, err
	}
	if r.offered == nil {
		return nil, nil
	}
	entries := r.offered.Entries(f)
	added, err := r.added(ctx, a, entries)
	if err != nil {
		return nil, err
	}
	offers := make([]Offer, 0, len(entries))
	for _, e := range entries {
		offers = append(offers, Offer{Entry: e, Added: added(e)})
	}
	return offers, nil
}

// AddOffer makes a connector of a server of the catalog, as it stands there: how one signs in is known, the credential comes next.
// One that the tenant has already is refused.
func (r *Registry) AddOffer(ctx context.Context, a auth.Actor, slug string) (connectors.Connector, catalog.Entry, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Connector{}, catalog.Entry{}, err
	}
	if r.offered == nil {
		return connectors.Connector{}, catalog.Entry{}, fault.Errorf(fault.NotFound, "There is no catalog here.")
	}
	e, err := r.offered.Find(slug)
	if err != nil {
		return connectors.Connector{}, e, err
	}
	added, err := r.added(ctx, a, []catalog.Entry{e})
	if err != nil {
		return connectors.Connector{}, e, err
	}
	if have := added(e); have != nil {
		return connectors.Connector{}, e, fault.Errorf(fault.Conflict,
			"The connector %q leads to this server already. For a second account, add a connector by hand.", have.Name)
	}
	d := e.Over(a.Tenant.Defaults.Draft()).Normalized()
	if err := r.check(d, connectors.Secret{}, false); err != nil {
		return connectors.Connector{}, e, err
	}
	c, err := r.insertNumbered(ctx, a, d, connectors.Secret{}, false)
	return c, e, err
}

// added finds the tenant's connectors to servers of the catalog. What a connector's URL has behind a question mark may be its own: a
// project, or a bound on what agents may do.
func (r *Registry) added(ctx context.Context, a auth.Actor, entries []catalog.Entry) (func(catalog.Entry) *store.ConnectorAt, error) {
	urls := make([]string, 0, len(entries))
	for _, e := range entries {
		urls = append(urls, e.URL)
	}
	found, err := r.store.Tenant(a.Tenant.ID).ConnectorsAt(ctx, urls)
	if err != nil {
		return nil, err
	}
	return func(e catalog.Entry) *store.ConnectorAt {
		want := placeOf(e.URL)
		for i, c := range found {
			at := placeOf(c.URL)
			if strings.HasSuffix(want, "?") {
				at, _, _ = strings.Cut(at, "?")
				at += "?"
			}
			if at == want {
				return &found[i]
			}
		}
		return nil
	}, nil
}
