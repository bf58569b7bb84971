package connectors

import (
	"cmp"
	"context"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// readDocumentInfo reads what is shown of an HTTP API's document; nil: it has none.
func readDocumentInfo(ctx context.Context, tx *store.Tenant, id connectors.ConnectorID) (*connectors.APIDocument, error) {
	info, err := tx.APIs().DocumentInfo(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return nil, nil //nolint:nilnil // that is the answer
	}
	return &info, err
}

// apiFacts say on the overview what an HTTP API is.
func apiFacts(ctx context.Context, c connectors.Connector, document *connectors.APIDocument, now time.Time) []templates.Fact {
	facts := []templates.Fact{{Label: i18n.T(ctx, "Operations"), Value: i18n.T(ctx, "Show operations"), Href: operationsPath(c.Slug)}}
	switch {
	case document == nil:
		return append(facts, templates.Fact{Label: i18n.T(ctx, "Document"), Value: i18n.T(ctx, "none, custom endpoints only")})
	case !document.IsFetched:
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Document"), Value: i18n.T(ctx, "uploaded")})
	default:
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Document"), Value: c.URL, Mono: true, Copy: true})
	}
	return append(facts, templates.Fact{Label: i18n.T(ctx, "Last change"), When: new(shell.NewWhen(ctx, document.ReadAt, now))})
}

// apiAddress is the address that gets the calls, as far as the settings say it.
func apiAddress(c connectors.Connector, document *connectors.APIDocument) string {
	if document != nil && document.IsFetched {
		return callAddress(c)
	}
	return cmp.Or(c.ServerURL, c.URL)
}

// documentFacts say what a connector's document is.
func documentFacts(ctx context.Context, o manage.APIOverview, now func() time.Time) []templates.Fact {
	facts := aboutFacts(ctx, o.About, len(o.Operations))
	if !o.Document.IsFetched {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Document"), Value: i18n.T(ctx, "uploaded")})
	}
	return append(facts, templates.Fact{Label: i18n.T(ctx, "Last change"), When: new(shell.NewWhen(ctx, o.Document.ReadAt, now()))})
}

// aboutFacts say what a document is about.
func aboutFacts(ctx context.Context, about manage.APIDocumentFacts, operations int) []templates.Fact {
	spec := "OpenAPI " + about.Spec
	if strings.HasPrefix(about.Spec, "2") {
		spec = "Swagger " + about.Spec
	}
	facts := []templates.Fact{
		{Label: i18n.T(ctx, "Format"), Value: spec},
		{Label: i18n.T(ctx, "Operations"), Value: i18n.Number(ctx, operations)},
	}
	if len(about.Servers) > 0 {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Server"), Value: shell.CleanText(about.Servers[0]), Mono: true})
	}
	if len(about.LeftOut) > 0 {
		first := about.LeftOut[0]
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Left out"), Value: i18n.N(ctx, len(about.LeftOut), "%[1]s part, such as %[2]s: %[3]s", "%[1]s parts, such as %[2]s: %[3]s", first.Where, i18n.TranslateKnown(ctx, first.Sentence))})
	}
	return facts
}
