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

// answersView shows a person's requests for access that were decided within the last week.
func answersView(ctx context.Context, sh *shell.Shell, asked []store.RequestedAccess, now time.Time) templates.NeedGroup {
	group := templates.NeedGroup{
		ID: "answers", Title: i18n.T(ctx, "Answers to your requests"), Icon: "shield-check", Kind: templates.StateOK,
		All: templates.Link{Text: i18n.T(ctx, "All requests"), Href: "/access/requests?state=all"},
	}
	for _, r := range asked {
		isAnswer := r.State == connectors.RequestAccepted || r.State == connectors.RequestRefused
		if !isAnswer || r.DecidedAt == nil || now.Sub(*r.DecidedAt) > shell.Week {
			continue
		}
		row := templates.NeedRow{
			Mark: sh.NamedMark(r.Connector.Name, r.Connector.Slug, store.ConnectorMark{}),
			Name: r.Agent.Name + " → " + r.Connector.Name, Line: i18n.T(ctx, "Accepted by %s", r.DecidedBy), When: shell.NewWhen(ctx, *r.DecidedAt, now),
			Action: templates.Link{Text: i18n.T(ctx, "Open request"), Href: connectors.AccessRequestPath(r.ID)},
		}
		if r.State == connectors.RequestRefused {
			row.Line = i18n.T(ctx, "Refused by %s", r.DecidedBy)
		}
		if r.Note != "" {
			row.Line += " · " + shell.ShortenText(shell.CleanText(r.Note), shell.MaxName)
		}
		group.Rows = append(group.Rows, row)
	}
	group.Count = i18n.Number(ctx, len(group.Rows))
	return group
}
