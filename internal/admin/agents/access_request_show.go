package agents

import (
	"context"
	"net/http"
	"slices"
	"time"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// accessRequestShow shows a request with what a decision rests on.
func (h *Handler) accessRequestShow(w http.ResponseWriter, r *http.Request) error {
	review, err := h.reviewRequest(r)
	if err != nil {
		return err
	}
	return h.accessRequestPage(w, r, http.StatusOK, review, templates.Form{Values: map[string]string{"until": endAsAsked}})
}

func accessRequestID(r *http.Request) (connectors.AccessRequestID, error) {
	id, ok := shell.PathRef(r, "id").UUID()
	if !ok {
		return connectors.AccessRequestID{}, fault.Errorf(fault.NotFound, "No such request.")
	}
	return connectors.AccessRequestID{UUID: id}, nil
}

func (h *Handler) reviewRequest(r *http.Request) (manage.AccessReview, error) {
	id, err := accessRequestID(r)
	if err != nil {
		return manage.AccessReview{}, err
	}
	return h.Registry.ReviewRequest(r.Context(), shell.Actor(r), id)
}

func (h *Handler) accessRequestPage(w http.ResponseWriter, r *http.Request, status int, review manage.AccessReview, form templates.Form) error {
	ctx, asked := r.Context(), review.Request
	frame := h.NewFrame(r, templates.NavAgents, shell.NewCrumb(i18n.T(ctx, "Access requests"), "/access/requests"), shell.NewCrumb(asked.Agent.Name+" → "+asked.Connector.Name, ""))
	page := templates.AccessRequestPage{
		Frame: frame, Title: asked.Agent.Name + " → " + asked.Connector.Name, State: requestState(ctx, asked.State),
		Facts: h.requestFacts(r, asked), Reason: shell.CleanText(asked.Reason), Note: shell.CleanText(asked.Note),
		Action: accessRequestPath(asked.ID), Withdraw: review.MayEnd,
	}
	if frame.Can.Manage && asked.State == connectors.RequestOpen {
		page.Review = h.accessReview(r, review, form)
	}
	return h.Respond.Page(w, r, status, templates.AccessRequest(page))
}

func (h *Handler) requestFacts(r *http.Request, asked store.RequestedAccess) []templates.Fact {
	ctx := r.Context()
	at := shell.NewWhen(ctx, asked.AskedAt, h.Now())
	facts := []templates.Fact{
		{Label: i18n.T(ctx, "Agent"), Value: asked.Agent.Name, Href: shell.AgentPath(asked.Agent.Slug)},
		{Label: i18n.T(ctx, "Connector"), Value: asked.Connector.Name, Href: shell.ConnectorPath(asked.Connector.Slug)},
		{Label: i18n.T(ctx, "Tools"), Value: toolNames(r, connectors.Grant{AllTools: asked.AllTools, Tools: asked.Tools}, h.Now())},
		h.endFact(ctx, asked.Until),
		{Label: i18n.T(ctx, "Asked by"), Value: asked.AskedBy},
		{Label: i18n.T(ctx, "Asked"), When: &at},
	}
	if asked.DecidedAt != nil {
		decided := shell.NewWhen(ctx, *asked.DecidedAt, h.Now())
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Decided"), When: &decided})
	}
	if asked.DecidedBy != "" {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Decided by"), Value: asked.DecidedBy})
	}
	return facts
}

func (h *Handler) endFact(ctx context.Context, until *time.Time) templates.Fact {
	f := templates.Fact{Label: i18n.T(ctx, "Access ends"), Value: i18n.T(ctx, "No end")}
	if until != nil {
		when := shell.NewWhen(ctx, *until, h.Now())
		f.When = &when
	}
	return f
}

// toolNames names the tools of a grant, those with an end of their own with it.
func toolNames(r *http.Request, g connectors.Grant, now time.Time) string {
	ctx := r.Context()
	var names []string
	if g.AllTools {
		names = append(names, i18n.T(ctx, "All tools"))
	}
	for _, tool := range g.Tools {
		names = append(names, shell.CleanText(tool))
	}
	if g.Ends != nil {
		for tool, end := range g.Ends.Tools {
			name := shell.CleanText(tool)
			if end != nil {
				name += " (" + i18n.T(ctx, "ends %s", shell.FormatRelative(ctx, *end, now)) + ")"
			}
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return i18n.T(ctx, "No tools")
	}
	slices.Sort(names)
	text := ""
	for i, name := range shell.ShortenAsked(r, names) {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	if g.Ends != nil && g.Ends.Until != nil {
		text += " · " + i18n.T(ctx, "ends %s", shell.FormatRelative(ctx, *g.Ends.Until, now))
	}
	return text
}

func (h *Handler) accessReview(r *http.Request, review manage.AccessReview, form templates.Form) *templates.AccessReview {
	ctx, asked := r.Context(), review.Request
	before := i18n.T(ctx, "No access yet.")
	if review.Before != nil {
		before = toolNames(r, *review.Before, h.Now())
	}
	asAsked := templates.Option{Value: endAsAsked, Label: i18n.T(ctx, "As asked: %s", endText(ctx, asked.Until, h.Now()))}
	view := &templates.AccessReview{
		Form: form, Ends: append([]templates.Option{asAsked}, endOptions(ctx)...),
		Grant: []templates.Fact{
			{Label: i18n.T(ctx, "Before"), Value: before},
			{Label: i18n.T(ctx, "After"), Value: toolNames(r, review.After, h.Now())},
		},
	}
	for _, t := range review.Tools {
		view.Tools = append(view.Tools, requestedToolRow(ctx, asked.Connector.Slug, t))
	}
	if n := len(review.Tools); asked.AllTools && n == connectors.MaxRequestedTools {
		view.More = i18n.T(ctx, "First %s shown.", i18n.Number(ctx, n))
	}
	for _, other := range review.Others {
		view.Others = append(view.Others, templates.Fact{
			Label: other.Agent.Name, Href: shell.AgentPath(other.Agent.Slug) + shell.ConnectorPath(asked.Connector.Slug),
			Value: grantedTools(ctx, connectors.Grant{AllTools: other.AllTools, Tools: make([]string, other.Tools)}, -1),
		})
	}
	return view
}

// effectBadge names what a tool may do.
func effectBadge(ctx context.Context, e connectors.Effect) templates.Badge {
	switch e {
	case connectors.EffectReadOnly:
		return templates.Badge{Kind: templates.BadgeGood, Text: i18n.T(ctx, "read-only")}
	case connectors.EffectDestructive:
		return templates.Badge{Kind: templates.BadgeRisk, Text: i18n.T(ctx, "destructive")}
	case connectors.EffectWrites:
		return templates.Badge{Text: i18n.T(ctx, "writes")}
	default:
		return templates.Badge{Text: i18n.T(ctx, "effects unknown"), Title: i18n.T(ctx, "The server doesn't declare the tool's effects. It may delete or overwrite data.")}
	}
}

func requestedToolRow(ctx context.Context, connector string, t store.RequestedTool) templates.RequestedTool {
	row := templates.RequestedTool{
		Name: shell.ShortenText(t.Name, shell.MaxName), Href: shell.ToolPath(connector, t.Name), Badges: []templates.Badge{effectBadge(ctx, t.Effect)},
		Calls: i18n.Number(ctx, t.Calls), Failed: i18n.Number(ctx, t.Failed), Refused: i18n.Number(ctx, t.Refused),
	}
	if badge, ok := toolpages.ReviewBadge(ctx, t.Review); ok {
		row.Badges = append(row.Badges, badge)
	}
	if !t.Enabled {
		row.Badges = append(row.Badges, templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "disabled"), Title: i18n.T(ctx, "Unavailable to agents.")})
	}
	return row
}
