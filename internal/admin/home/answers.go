package home

import (
	"context"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// answersView shows a person's requests for access that are open or were decided within the last week.
func answersView(ctx context.Context, sh *shell.Shell, asked []store.RequestedAccess, now time.Time) templates.NeedGroup {
	group := templates.NeedGroup{
		ID: "answers", Title: i18n.T(ctx, "Your access requests"), Icon: "shield-check", Kind: templates.StateOK,
		All: templates.Link{Text: i18n.T(ctx, "All requests"), Href: "/access/requests?state=all"},
	}
	for _, r := range asked {
		row := templates.NeedRow{
			Mark: sh.NamedMark(r.Connector.Name, r.Connector.Slug, store.ConnectorMark{}),
			Name: r.Agent.Name + " → " + r.Connector.Name, When: shell.NewWhen(ctx, r.AskedAt, now),
			Action: templates.Link{Text: i18n.T(ctx, "Open request"), Href: connectors.AccessRequestPath(r.ID)},
		}
		switch {
		case r.State == connectors.RequestOpen:
			row.Line, row.Since = i18n.T(ctx, "Waiting for a decision"), i18n.T(ctx, "asked")
		case r.DecidedAt == nil || now.Sub(*r.DecidedAt) > shell.Week:
			continue
		case r.State == connectors.RequestAccepted:
			row.Line, row.When = i18n.T(ctx, "Accepted by %s", r.DecidedBy), shell.NewWhen(ctx, *r.DecidedAt, now)
		case r.State == connectors.RequestRefused:
			row.Line, row.When = i18n.T(ctx, "Refused by %s", r.DecidedBy), shell.NewWhen(ctx, *r.DecidedAt, now)
		default:
			continue
		}
		if r.Note != "" {
			row.Line += " · " + shell.ShortenText(shell.CleanText(r.Note), shell.MaxName)
		}
		group.Rows = append(group.Rows, row)
	}
	group.Count = i18n.Number(ctx, len(group.Rows))
	return group
}
