package admin

import (
	"context"
	"strconv"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

func noticeRow(ctx context.Context, n connectors.Notice, now time.Time) templates.NoticeRow {
	row := templates.NoticeRow{
		ID: n.ID.String(), State: noticeState(ctx, n.Kind), Title: cleanText(i18n.TranslateKnown(ctx, n.Title)), Text: cleanText(i18n.TranslateKnown(ctx, n.Body)), Href: n.Link, When: newWhen(ctx, n.At, now), Unread: !n.Read,
	}
	if n.Times > 1 {
		row.Times = i18n.T(ctx, "%s times", strconv.Itoa(n.Times))
	}
	return row
}

func noticeState(ctx context.Context, k connectors.NoticeKind) templates.State {
	kinds := map[connectors.NoticeKind]templates.StateKind{
		connectors.NoticeApproval: templates.StateBusy, connectors.NoticeToolChange: templates.StateWarn, connectors.NoticeNeedsAuth: templates.StateBad,
		connectors.NoticeLapsing: templates.StateWarn, connectors.NoticeDown: templates.StateBad, connectors.NoticeRecovered: templates.StateOK,
		connectors.NoticeWebhookOff: templates.StateWarn,
	}
	kind, ok := kinds[k]
	if !ok {
		kind = templates.StateOff
	}
	return templates.State{Kind: kind, Text: kindName(ctx, k)}
}

func kindName(ctx context.Context, k connectors.NoticeKind) string {
	names := map[connectors.NoticeKind]string{
		connectors.NoticeApproval: i18n.T(ctx, "Approval"), connectors.NoticeToolChange: i18n.T(ctx, "Changed tool"), connectors.NoticeNeedsAuth: i18n.T(ctx, "Needs authorization"),
		connectors.NoticeLapsing: i18n.T(ctx, "Access lapses"), connectors.NoticeDown: i18n.T(ctx, "Connector down"), connectors.NoticeRecovered: i18n.T(ctx, "Connector recovered"),
		connectors.NoticeWebhookOff: i18n.T(ctx, "Webhook turned off"), connectors.NoticeWebhookTest: i18n.T(ctx, "Test"),
	}
	if name, ok := names[k]; ok {
		return name
	}
	return string(k)
}
