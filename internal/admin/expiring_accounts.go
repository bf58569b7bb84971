package admin

import (
	"context"
	"strconv"
	"time"

	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// How far ahead, and for how many accounts, the page warns.
const (
	expiryHorizon = 72 * time.Hour
	maxExpiring   = 20
)

// expiringAccountsView lists accounts that end soon unless a person connects them again; nil if there are none.
func expiringAccountsView(ctx context.Context, expiring []store.ExpiringCredential, now time.Time) *templates.ExpiringAccounts {
	if len(expiring) == 0 {
		return nil
	}
	hours := strconv.Itoa(int(expiryHorizon.Hours()))
	l := &templates.ExpiringAccounts{Title: i18n.N(ctx, len(expiring), "%[1]s account lapses within %[2]s hours", "%[1]s accounts lapse within %[2]s hours", hours)}
	if len(expiring) == maxExpiring {
		l.Title = i18n.T(ctx, "%[1]s or more accounts lapse within %[2]s hours", strconv.Itoa(maxExpiring), hours)
	}
	for _, one := range expiring {
		l.Rows = append(l.Rows, templates.ExpiringAccountRow{
			Connector: one.ConnectorName, Agent: one.AgentName, When: newWhen(ctx, one.EndsAt, now),
			Href: accountPath(one.ConnectorSlug, one.AgentSlug),
		})
	}
	return l
}
