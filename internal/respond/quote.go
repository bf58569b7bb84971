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
		return templates.Quote{Label: i18n.T(ctx, "The program wrote, before it ended with exit status %d", *u.ExitStatus), Text: u.Said}
	default:
		return templates.Quote{Label: i18n.T(ctx, "The server said"), Text: u.Said}
	}
}
