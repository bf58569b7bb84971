package shell

import (
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// ConnectorMark is what shows a connector beside its name: its server's icon, else the catalog's, else a letter.
func (h *Shell) ConnectorMark(c connectors.Connector) templates.Mark {
	return h.NamedMark(c.Name, c.Slug, store.ConnectorMark{URL: c.URL, IconHash: c.IconHash})
}

// NamedMark is ConnectorMark for a page that does not read the whole connector.
func (h *Shell) NamedMark(name, slug string, from store.ConnectorMark) templates.Mark {
	m := templates.Mark{Initial: InitialLetter(name)}
	if from.IconHash != nil {
		m.Picture = ConnectorPath(slug) + "/icon?v=" + from.IconHash.String()[:16]
		return m
	}
	if icon, ok := h.registry.CatalogIcon(from.URL); ok {
		m.Catalog = &templates.Monogram{Letters: icon.Letters, Colour: icon.Colour}
	}
	return m
}
