package shell

import (
	"context"
	"slices"

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

// Marks are the marks of the connectors of a list.
type Marks struct {
	shell  *Shell
	bySlug map[string]store.ConnectorMark
}

// ReadMarks reads the marks of the connectors of some rows, in one statement.
func ReadMarks[T any](ctx context.Context, h *Shell, tx *store.Tenant, rows []T, slug func(T) string) (Marks, error) {
	var slugs []string
	for _, row := range rows {
		slugs = append(slugs, slug(row))
	}
	slices.Sort(slugs)
	bySlug, err := tx.Connectors().Marks(ctx, slices.Compact(slugs))
	return Marks{h, bySlug}, err
}

// Mark returns the mark of a connector; a letter if it was not read.
func (m Marks) Mark(name, slug string) templates.Mark {
	from, ok := m.bySlug[slug]
	if !ok {
		return templates.Mark{Initial: InitialLetter(name)}
	}
	return m.shell.NamedMark(name, slug, from)
}
