package connectors

import (
	"context"
	"strconv"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
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
	l := &templates.ExpiringAccounts{Title: i18n.N(ctx, len(expiring), "%s account to reconnect", "%s accounts to reconnect")}
	if len(expiring) == MaxExpiring {
		l.Title = i18n.T(ctx, "%s+ accounts to reconnect", strconv.Itoa(MaxExpiring))
	}
	for _, one := range expiring {
		row := templates.ExpiringAccountRow{
			Connector: one.ConnectorName, Agent: one.AgentName, Account: connectors.GivenName(one.Name), State: i18n.T(ctx, "ends"), When: shell.NewWhen(ctx, one.EndsAt, now),
			Href: shell.AccountPath(one.ConnectorSlug, one.AgentSlug, one.Name),
		}
		if one.EndsAt.Before(now) {
			row.State = i18n.T(ctx, "expired")
		}
		l.Rows = append(l.Rows, row)
	}
	return l
}
