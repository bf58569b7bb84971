package agents

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// anyRequest is the state parameter for all states. Without one, open requests are listed.
const anyRequest = "all"

// accessRequestList lists requests for access.
func (h *Handler) accessRequestList(w http.ResponseWriter, r *http.Request) error {
	filter := store.AccessRequestFilter{State: connectors.AccessRequestState(r.URL.Query().Get("state")), Page: shell.ReadPage(r)}
	switch filter.State {
	case "":
		filter.State = connectors.RequestOpen
	case anyRequest:
		filter.State = ""
	}
	list, err := h.Registry.AccessRequests(r.Context(), shell.Actor(r), filter)
	if err != nil {
		return err
	}
	pager := shell.NewPager(r, list.Next, len(list.Items))
	page := templates.AccessRequestsPage{
		Frame:  h.NewFrame(r, templates.NavAgents, shell.NewCrumb(i18n.T(r.Context(), "Agents"), "/agents"), shell.NewCrumb(i18n.T(r.Context(), "Access requests"), "")),
		Filter: templates.Form{Values: map[string]string{"state": r.URL.Query().Get("state")}},
		States: requestStateOptions(r.Context()),
		Count:  shell.FormatCount(r.Context(), len(list.Items), pager, "%s request", "%s requests"),
		Pager:  pager,
	}
	for _, request := range list.Items {
		page.Rows = append(page.Rows, accessRequestRow(r.Context(), request, h.Now()))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.AccessRequests(page))
}

func accessRequestRow(ctx context.Context, r store.RequestedAccess, now time.Time) templates.AccessRequestRow {
	return templates.AccessRequestRow{
		Href: accessRequestPath(r.ID), Agent: r.Agent.Name, Connector: r.Connector.Name,
		Tools:   grantedTools(ctx, connectors.Grant{AllTools: r.AllTools, Tools: r.Tools}, -1),
		AskedBy: r.AskedBy, Asked: shell.NewWhen(ctx, r.AskedAt, now), Ends: endText(ctx, r.Until, now), State: requestState(ctx, r.State),
	}
}

func accessRequestPath(id connectors.AccessRequestID) string {
	return connectors.AccessRequestPath(id)
}

func requestStateOptions(ctx context.Context) []templates.Option {
	options := []templates.Option{{Value: "", Label: requestState(ctx, connectors.RequestOpen).Text}}
	for _, s := range []connectors.AccessRequestState{connectors.RequestAccepted, connectors.RequestRefused, connectors.RequestWithdrawn} {
		options = append(options, templates.Option{Value: string(s), Label: requestState(ctx, s).Text})
	}
	return append(options, templates.Option{Value: anyRequest, Label: i18n.T(ctx, "All states")})
}

// requestState words a request's state.
func requestState(ctx context.Context, s connectors.AccessRequestState) templates.State {
	switch s {
	case connectors.RequestOpen:
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Waiting for a decision")}
	case connectors.RequestAccepted:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Accepted")}
	case connectors.RequestRefused:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Refused")}
	default:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Withdrawn")}
	}
}

// endText words an end.
func endText(ctx context.Context, until *time.Time, now time.Time) string {
	if until == nil {
		return i18n.T(ctx, "No end")
	}
	return shell.FormatRelative(ctx, *until, now)
}
