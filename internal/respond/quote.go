package respond

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// NewQuote quotes what a server or program said; nil: nothing.
func NewQuote(ctx context.Context, u *connectors.Upstream) templates.Quote {
	switch {
	case u == nil:
		return templates.Quote{}
	case u.ExitStatus != nil:
		return templates.Quote{Label: i18n.T(ctx, "Program output before exit status %d", *u.ExitStatus), Text: u.Said}
	default:
		return templates.Quote{Label: i18n.T(ctx, "Server response"), Text: u.Said}
	}
}
