package connectors

import (
	"context"
	"strconv"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// How far ahead, and for how many accounts, the page warns.
const (
	ExpiryHorizon = 72 * time.Hour
	MaxExpiring   = 20
)

// expiringAccountsView lists accounts that end soon unless a person connects them again; nil if there are none.
func expiringAccountsView(ctx context.Context, expiring []store.ExpiringCredential, now time.Time) *templates.ExpiringAccounts {
	if len(expiring) == 0 {
		return nil
	}
	hours := strconv.Itoa(int(ExpiryHorizon.Hours()))
	l := &templates.ExpiringAccounts{Title: i18n.N(ctx, len(expiring), "%[1]s account expires within %[2]s hours", "%[1]s accounts expire within %[2]s hours", hours)}
	if len(expiring) == MaxExpiring {
		l.Title = i18n.T(ctx, "%[1]s+ accounts expire within %[2]s hours", strconv.Itoa(MaxExpiring), hours)
	}
	for _, one := range expiring {
		l.Rows = append(l.Rows, templates.ExpiringAccountRow{
			Connector: one.ConnectorName, Agent: one.AgentName, When: shell.NewWhen(ctx, one.EndsAt, now),
			Href: shell.AccountPath(one.ConnectorSlug, one.AgentSlug),
		})
	}
	return l
}
