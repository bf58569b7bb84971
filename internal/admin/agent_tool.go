package admin

import (
	"net/http"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// agentTool says why an agent may or may not call a tool, by the name that it sees, and what to do about it.
func (h *Handler) agentTool(w http.ResponseWriter, r *http.Request) error {
	tenant, exposed := actor(r).Tenant.ID, pathValue(r, "exposed")
	why, err := h.access.Why(r.Context(), tenant, ref(r, "id"), exposed)
	if err != nil {
		return err
	}
	a, err := h.tenant(r).Agent(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	frame := h.frame(r, templates.NavAgents,
		crumb("Agents", "/agents"), crumb(a.Name, agentPath(a.Slug)+"/tools"),
		templates.Crumb{Text: shorten(exposed, maxName), Mono: true})
	return h.respond.Page(w, r, http.StatusOK, templates.AgentTool(templates.AgentToolPage{
		Frame:   frame,
		Head:    agentHead(a, templates.AgentToolsTab),
		Exposed: shorten(exposed, maxName),
		State:   whyState(why),
		Why:     whySentence(why),
		Advice:  why.Advice,
		Links:   whyLinks(a, why, frame.Can),
		Facts:   h.whyFacts(why),
	}))
}

func whyState(w access.Why) templates.State {
	switch {
	case w.MayCall && w.Asks:
		return templates.State{Kind: templates.StateWarn, Text: "Asks a person"}
	case w.MayCall:
		return templates.State{Kind: templates.StateOK, Text: "Callable"}
	case w.State == access.StateOK:
		return templates.State{Kind: templates.StateBad, Text: "No credential"}
	case w.State == access.StateUnknown:
		return templates.State{Kind: templates.StateOff, Text: "Unknown"}
	case w.State == access.StateAgentDisabled:
		return templates.State{Kind: templates.StateOff, Text: "Agent disabled"}
	default:
		return templates.State{Kind: templates.StateBad, Text: heldName(w.State)}
	}
}

// whySentence says what the agent finds.
func whySentence(w access.Why) string {
	switch {
	case w.Sees && w.MayCall && w.Asks:
		return "The agent sees the tool. A call of it waits for a person."
	case w.Sees && w.MayCall:
		return "The agent sees the tool, and a call of it goes ahead."
	case w.Sees:
		return "The agent sees the tool, and a call of it is refused."
	default:
		return "The agent does not see the tool, and cannot call it."
	}
}

// whyLinks lead to where something can be done.
func whyLinks(a connectors.Agent, w access.Why, can templates.Can) []templates.Link {
	if w.Connector == "" {
		return nil
	}
	var links []templates.Link
	if can.Manage {
		links = append(links, templates.Link{Text: "Change the grant", Href: grantPath(a.Slug, w.Connector)})
	}
	if w.State == access.StateOK && !w.MayCall {
		links = append(links, templates.Link{Text: "Open the credentials", Href: credentialsPath(w.Connector)})
	}
	text := "Open the tool"
	if w.MayCall && can.Sync {
		text = "Try it"
	}
	return append(links, templates.Link{Text: text, Href: toolPath(w.Connector, w.Tool) + "?agent=" + a.Slug})
}

func (h *Handler) whyFacts(w access.Why) []templates.Fact {
	facts := []templates.Fact{
		{Label: "Sees it", Value: yesNo(w.Sees)},
		{Label: "May call it", Value: yesNo(w.MayCall)},
	}
	if w.Connector == "" {
		return facts
	}
	facts = append(facts,
		templates.Fact{Label: "Connector", Value: w.Connector, Href: connectorPath(w.Connector)},
		templates.Fact{Label: "Tool", Value: shorten(w.Tool, maxName), Mono: true},
		templates.Fact{Label: "Asks a person", Value: yesNo(w.Asks)},
	)
	if w.AllowedUntil != nil {
		until := when(*w.AllowedUntil, h.now())
		facts = append(facts, templates.Fact{Label: "Allowed until", When: &until})
	}
	if w.Credential.Owner == "" {
		return facts
	}
	return append(facts, templates.Fact{Label: "Credential", Value: credentialWhy(w.Credential)})
}

// credentialWhy says whose credential a call carries, and how it is.
func credentialWhy(c access.CredentialWhy) string {
	whose := map[string]string{"shared": "shared", "agent": "the agent's own", "none": "none needed"}[c.Owner]
	switch {
	case c.Owner == "none":
		return whose
	case c.Status == "missing":
		return whose + ", not set"
	default:
		return whose + ", " + lowerFirst(credentialState("", connectors.CredentialStatus(c.Status)).Text)
	}
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
