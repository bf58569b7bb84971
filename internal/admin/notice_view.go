package admin

import (
	"strconv"
	"time"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// noticeRow is one notice in the list.
func noticeRow(n connectors.Notice, now time.Time) templates.NoticeRow {
	row := templates.NoticeRow{
		ID: n.ID.String(), State: noticeState(n.Kind), Title: clean(n.Title), Text: clean(n.Body), Href: n.Link, When: when(n.At, now), Unread: !n.Read,
	}
	if n.Times > 1 {
		row.Times = strconv.Itoa(n.Times) + " times"
	}
	return row
}

// noticeState words what kind of thing a notice tells.
func noticeState(k connectors.NoticeKind) templates.State {
	kinds := map[connectors.NoticeKind]templates.StateKind{
		connectors.NoticeApproval: templates.StateBusy, connectors.NoticeToolChange: templates.StateWarn, connectors.NoticeNeedsAuth: templates.StateBad,
		connectors.NoticeLapsing: templates.StateWarn, connectors.NoticeDown: templates.StateBad, connectors.NoticeRecovered: templates.StateOK,
		connectors.NoticeWebhookOff: templates.StateWarn,
	}
	kind, ok := kinds[k]
	if !ok {
		kind = templates.StateOff
	}
	return templates.State{Kind: kind, Text: kindName(k)}
}

// kindName is how people call a kind of notice.
func kindName(k connectors.NoticeKind) string {
	names := map[connectors.NoticeKind]string{
		connectors.NoticeApproval: "Approval", connectors.NoticeToolChange: "Changed tool", connectors.NoticeNeedsAuth: "Needs authorization",
		connectors.NoticeLapsing: "Access lapses", connectors.NoticeDown: "Connector down", connectors.NoticeRecovered: "Connector recovered",
		connectors.NoticeWebhookOff: "Webhook turned off", connectors.NoticeWebhookTest: "Test",
	}
	if name, ok := names[k]; ok {
		return name
	}
	return string(k)
}
