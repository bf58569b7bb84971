package agents

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"patchbay/internal/admin/shell"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// Bounds in characters.
const (
	maxAdviceField = 60   // of a field's path in an advice
	maxPreviewText = 4000 // of a previewed answer
)

// readShaping returns how answers of a listed tool are shortened.
func readShaping(ctx context.Context, tx *store.Tenant, agent connectors.AgentID, why agentview.ToolAccess) (connectors.Shaping, error) {
	if !why.Listed {
		return connectors.Shaping{}, nil
	}
	c, err := tx.Connectors().Get(ctx, connectors.Ref(why.Connector))
	if err != nil {
		return connectors.Shaping{}, err
	}
	grant, err := tx.Agents().Grant(ctx, agent, c.ID)
	return grant.Shaping[why.Tool], err
}

func shapingForm(s connectors.Shaping) templates.Form {
	budget := ""
	if s.Budget > 0 {
		budget = strconv.Itoa(s.Budget)
	}
	return templates.Form{Values: map[string]string{"fields": s.Fields, "budget": budget}}
}

// readShapingRule reads the rule of a form. A budget that is no number is refused later.
func readShapingRule(values url.Values) connectors.Shaping {
	f := shell.PostedForm{Values: values}
	s := connectors.Shaping{Fields: f.Text("fields")}
	if f.Text("budget") != "" {
		s.Budget = f.Number("budget", 0)
	}
	return s
}

// shapingPanel is the form, and with preview in the query what the typed rule does to recorded answers.
func (h *Handler) shapingPanel(r *http.Request, page *agentToolPage) (*templates.ShapingPanel, error) {
	if !page.why.Listed || !page.frame.Can.Manage {
		return nil, nil
	}
	here := shell.AgentPath(page.agent.Slug) + "/tools/" + url.PathEscape(page.why.Exposed)
	panel := &templates.ShapingPanel{Form: shapingForm(page.shaping), Here: here, Action: here + "/shaping", On: !page.shaping.IsZero()}
	if page.form != nil {
		panel.Form = *page.form
	}
	query := r.URL.Query()
	if r.Method != http.MethodGet || !query.Has("preview") {
		return panel, nil
	}
	rule := readShapingRule(query)
	f := shell.PostedForm{Values: query}
	panel.Form = f.ToForm(nil)
	p, err := h.Registry.PreviewShaping(r.Context(), shell.Actor(r), page.toShapingRef(), &rule)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		panel.Form = f.ToForm(problem)
		return panel, nil
	}
	if err != nil {
		return nil, err
	}
	panel.Preview = true
	for _, a := range p.Answers {
		panel.Answers = append(panel.Answers, templates.ShapedAnswer{
			Href: shell.CallPath(a.Call), Before: i18n.Number(r.Context(), a.Before), After: i18n.Number(r.Context(), a.After), Summary: a.Summary,
			Text: shell.ShortenText(a.Text, maxPreviewText),
		})
	}
	for _, a := range p.Advice {
		fill := url.Values{"fields": {a.Fields}, "budget": {query.Get("budget")}, "preview": {"1"}}
		panel.Advice = append(panel.Advice, templates.ShapingAdvice{
			Text: i18n.T(r.Context(), "%s is %d %% of what this tool answers.", shell.ShortenText(a.Field, maxAdviceField), a.Percent), Fill: here + "?" + fill.Encode() + "#answers",
			Fields: a.Fields, Budget: query.Get("budget"), Before: i18n.Number(r.Context(), a.Before), After: i18n.Number(r.Context(), a.After),
		})
	}
	return panel, nil
}

// undoShapingForm is the form that sets a rule again.
func undoShapingForm(s connectors.Shaping) url.Values {
	if s.IsZero() {
		return url.Values{"do": {"off"}}
	}
	f := shapingForm(s)
	return url.Values{"fields": {f.Value("fields")}, "budget": {f.Value("budget")}}
}

// shapingSave sets how answers are shortened, or stops it.
func (h *Handler) shapingSave(w http.ResponseWriter, r *http.Request) error {
	page, err := h.loadAgentTool(r)
	if err != nil {
		return err
	}
	if page.why.Connector == "" {
		return fault.Errorf(fault.NotFound, "No such tool.")
	}
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	rule, said := readShapingRule(f.Values), i18n.T(r.Context(), "Answers are shortened.")
	if f.Text("do") == "off" || rule.IsZero() {
		rule, said = connectors.Shaping{}, i18n.T(r.Context(), "The agent gets whole answers.")
	}
	err = h.Registry.SetShaping(r.Context(), shell.Actor(r), page.toShapingRef(), rule)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		form := f.ToForm(problem)
		page.form = &form
		return h.agentToolPage(w, r, respond.Status(problem.Kind), page)
	}
	if err != nil {
		return err
	}
	flash := respond.Flash{Kind: respond.Notice, Text: said}
	if rule != page.shaping {
		flash.Undo = &respond.Undo{Action: r.URL.Path, Form: undoShapingForm(page.shaping)}
	}
	return h.Respond.Back(w, r, shell.AgentPath(page.agent.Slug)+"/tools/"+url.PathEscape(page.why.Exposed), flash)
}

func (p *agentToolPage) toShapingRef() manage.ShapingRef {
	return manage.ShapingRef{Agent: connectors.Ref(p.agent.ID.String()), Connector: connectors.Ref(p.why.Connector), Tool: p.why.Tool}
}
