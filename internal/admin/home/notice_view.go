package home

import (
	"context"
	"strconv"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// NoticeRow shows a notice to a person of a role.
func NoticeRow(ctx context.Context, n connectors.Notice, role connectors.Role, now time.Time) templates.NoticeRow {
	row := templates.NoticeRow{
		ID: n.ID.String(), State: noticeState(ctx, n.Kind), Title: shell.CleanText(i18n.TranslateKnown(ctx, n.Title)), Text: shell.CleanText(i18n.TranslateKnown(ctx, n.Body)), Href: n.Link, When: shell.NewWhen(ctx, n.At, now),
		Said: respond.NewQuote(ctx, n.UpstreamFor(role)),
	}
	if n.Times > 1 {
		row.Times = i18n.T(ctx, "%s times", strconv.Itoa(n.Times))
	}
	return row
}

func noticeState(ctx context.Context, k connectors.NoticeKind) templates.State {
	kinds := map[connectors.NoticeKind]templates.StateKind{
		connectors.NoticeApproval: templates.StateBusy, connectors.NoticeToolChange: templates.StateWarn, connectors.NoticeNeedsAuth: templates.StateBad,
		connectors.NoticeAccessRequest: templates.StateWarn, connectors.NoticeAccessDecision: templates.StateOK,
		connectors.NoticeLapsing: templates.StateWarn, connectors.NoticeDown: templates.StateBad, connectors.NoticeRecovered: templates.StateOK,
		connectors.NoticeToolsVanished: templates.StateBad, connectors.NoticeWebhookOff: templates.StateWarn,
		connectors.NoticeStreamPaused: templates.StateBad, connectors.NoticeStreamFailing: templates.StateWarn, connectors.NoticeStreamGap: templates.StateBad,
		connectors.NoticeStreamChanged: templates.StateWarn,
	}
	kind, ok := kinds[k]
	if !ok {
		kind = templates.StateOff
	}
	return templates.State{Kind: kind, Text: shell.KindName(ctx, k)}
}
