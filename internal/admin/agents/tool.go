package agents

import (
	"cmp"
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// agentTool explains why an agent may or may not call a tool, and what to do about it. The tool is named as the
// agent sees it.
func (h *Handler) agentTool(w http.ResponseWriter, r *http.Request) error {
	page, err := h.loadAgentTool(r)
	if err != nil {
		return err
	}
	return h.agentToolPage(w, r, http.StatusOK, page)
}

// agentToolPage is a tool as one agent sees it.
type agentToolPage struct {
	agent   connectors.Agent
	why     agentview.ToolAccess
	shaping connectors.Shaping
	form    *templates.Form // of a refused rule; nil: the stored one
	frame   templates.Frame
}

func (h *Handler) loadAgentTool(r *http.Request) (*agentToolPage, error) {
	p := &agentToolPage{}
	return p, h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if p.agent, err = tx.Agents().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
			return err
		}
		if p.why, err = h.Access.WhyIn(r.Context(), tx, p.agent.ID, shell.PathValue(r, "exposed")); err != nil {
			return err
		}
		p.shaping, err = readShaping(r.Context(), tx, p.agent.ID, p.why)
		return err
	})
}

func (h *Handler) agentToolPage(w http.ResponseWriter, r *http.Request, status int, page *agentToolPage) error {
	a, why, exposed := page.agent, page.why, page.why.Exposed
	frame := h.NewFrame(r, templates.NavAgents,
		shell.NewCrumb(i18n.T(r.Context(), "Agents"), "/agents"), shell.NewCrumb(a.Name, shell.AgentPath(a.Slug)+"/tools"),
		templates.Crumb{Text: shell.ShortenText(exposed, shell.MaxName), Mono: true})
	advice := ""
	if !why.Callable || why.NeedsApproval || why.RequiresTask {
		advice = i18n.TranslateKnown(r.Context(), why.Advice)
	}
	page.frame = frame
	panel, err := h.shapingPanel(r, page)
	if err != nil {
		return err
	}
	return h.Respond.Page(w, r, status, templates.AgentTool(templates.AgentToolPage{
		Frame:   frame,
		Head:    agentHead(r.Context(), a, templates.AgentToolsTab),
		Exposed: shell.ShortenText(exposed, shell.MaxName),
		State:   whyState(r.Context(), why),
		Why:     whySentence(r.Context(), why),
		Advice:  advice,
		Links:   whyLinks(r.Context(), a, why, frame.Can),
		Facts:   h.whyFacts(r.Context(), why),
		Shaping: panel,
	}))
}

func whyState(ctx context.Context, w agentview.ToolAccess) templates.State {
	switch {
	case w.Callable && w.NeedsApproval:
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Needs approval")}
	case w.Callable:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Callable")}
	case w.State == agentview.StateOK && w.Credential.Several:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "No account chosen")}
	case w.State == agentview.StateOK:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "No credential")}
	case w.State == agentview.StateUnknown:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Unknown")}
	case w.State == agentview.StateAgentDisabled:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Agent disabled")}
	default:
		return templates.State{Kind: templates.StateBad, Text: blockedReason(ctx, w.State)}
	}
}

// whySentence says what a call would do.
func whySentence(ctx context.Context, w agentview.ToolAccess) string {
	switch {
	case w.Listed && w.Callable && w.NeedsApproval:
		return i18n.T(ctx, "The agent sees the tool. Calls need approval.")
	case w.Listed && w.Callable:
		return i18n.T(ctx, "The agent can call the tool.")
	case w.Listed:
		return i18n.T(ctx, "The agent sees the tool, but calls are refused.")
	default:
		return i18n.T(ctx, "The agent can't see or call the tool.")
	}
}

// whyLinks lead to the pages where the cause can be changed.
func whyLinks(ctx context.Context, a connectors.Agent, w agentview.ToolAccess, can templates.Permissions) []templates.Link {
	if w.Connector == "" {
		return nil
	}
	var links []templates.Link
	if w.State == agentview.HeldNotGranted && can.Sync && !can.Manage {
		links = append(links, templates.Link{Text: i18n.T(ctx, "Ask for access"), Href: askPath(a.Slug, w.Connector, w.Tool)})
	}
	if can.Manage {
		links = append(links, templates.Link{Text: i18n.T(ctx, "Change access"), Href: grantPath(a.Slug, w.Connector)})
	}
	if w.AllowedUntil != nil {
		links = append(links, templates.Link{Text: i18n.T(ctx, "Open standing approval"), Href: shell.AgentPath(a.Slug) + "#allowances"})
	}
	if w.State == agentview.StateOK && !w.Callable && !w.Credential.Several {
		links = append(links, templates.Link{Text: i18n.T(ctx, "Open credentials"), Href: shell.CredentialsPath(w.Connector)})
	}
	text := i18n.T(ctx, "Open tool")
	if w.Callable && can.Sync {
		text = i18n.T(ctx, "Try it")
	}
	return append(links, templates.Link{Text: text, Href: shell.ToolPath(w.Connector, w.Tool) + "?agent=" + a.Slug})
}

func (h *Handler) whyFacts(ctx context.Context, w agentview.ToolAccess) []templates.Fact {
	facts := []templates.Fact{
		{Label: i18n.T(ctx, "Visible"), Value: yesNo(ctx, w.Listed)},
		{Label: i18n.T(ctx, "Can call"), Value: yesNo(ctx, w.Callable)},
	}
	if w.Connector == "" {
		return facts
	}
	facts = append(facts,
		templates.Fact{Label: i18n.T(ctx, "Connector"), Value: w.Connector, Href: shell.ConnectorPath(w.Connector)},
		templates.Fact{Label: i18n.T(ctx, "Tool"), Value: shell.ShortenText(w.Tool, shell.MaxName), Mono: true},
		templates.Fact{Label: i18n.T(ctx, "Needs approval"), Value: yesNo(ctx, w.NeedsApproval)},
	)
	if w.Prompts != "" {
		included := grantedItems(ctx, connectors.Grant{Prompts: w.Prompts, Resources: w.Resources})
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Also included"), Value: cmp.Or(included, i18n.T(ctx, "no prompts or resources"))})
	}
	if w.ItemsUnasked {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Prompts and resources"), Value: i18n.T(ctx, "no approval needed")})
	}
	if w.AllowedUntil != nil {
		until := shell.NewWhen(ctx, *w.AllowedUntil, h.Now())
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Approved until"), When: &until})
	}
	facts = append(facts, toolpages.UncheckedFacts(ctx, w.Unchecked)...)
	if w.Credential.Owner == "" {
		return facts
	}
	return append(facts, templates.Fact{Label: i18n.T(ctx, "Credential"), Value: credentialWhy(ctx, w.Credential)})
}

var ownerNames = map[string]i18n.Key{"shared": "shared", "agent": "the agent's own", "none": "none needed"}

// credentialWhy says which credential a call uses, and its state.
func credentialWhy(ctx context.Context, c agentview.CredentialAccess) string {
	owner := i18n.T(ctx, ownerNames[c.Owner])
	if c.Account != "" {
		owner += " · " + c.Account
	}
	switch {
	case c.Owner == "none":
		return owner
	case c.Several:
		return i18n.T(ctx, "%s, none of several chosen", owner)
	case c.Status == "missing":
		return i18n.T(ctx, "%s, not set", owner)
	default:
		return owner + " · " + i18n.Lower(ctx, shell.CredentialState(ctx, "", connectors.CredentialStatus(c.Status)).Text)
	}
}

func yesNo(ctx context.Context, yes bool) string {
	if yes {
		return i18n.T(ctx, "yes")
	}
	return i18n.T(ctx, "no")
}
