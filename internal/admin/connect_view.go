package admin

import (
	"net/url"

	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/oauth"
	"patchbay/web/templates"
)

// diagnosis tells how an authorization server was looked for; d nil: nobody has looked.
func (h *Handler) diagnosis(c connectors.Connector, d *connect.Diagnosis) *templates.Diagnosis {
	shown := &templates.Diagnosis{Title: "Diagnosis", Action: connectorPath(c.Slug) + "/diagnose"}
	if d == nil {
		return shown
	}
	shown.Stages = stages(*d)
	shown.Outcome = append(outcome(*d), templates.Fact{Label: "Looked at", When: new(when(d.At, h.now()))})
	shown.Scopes = d.Scopes
	if d.Problem != "" {
		shown.Problem = &templates.Attention{
			Kind: templates.StateBad, Title: "An account cannot be connected", Text: d.Problem,
			Action: &templates.Link{Text: "Open the settings", Href: connectorPath(c.Slug) + "/settings"},
		}
	}
	return shown
}

// stages are the steps of a trace, those of one kind together.
func stages(d connect.Diagnosis) []templates.DiagnosisStage {
	var all []templates.DiagnosisStage
	for i, step := range d.Trace {
		if i == 0 || d.Trace[i-1].Step != step.Step {
			all = append(all, templates.DiagnosisStage{Name: stepName(step.Step)})
		}
		stage := &all[len(all)-1]
		shown := templates.DiagnosisStep{Kind: templates.StateOff, URL: clean(step.URL), Read: step.Read, Decided: clean(step.Decided)}
		if step.Status != 0 {
			shown.Status = statusText(step.Status)
		}
		stage.Steps = append(stage.Steps, shown)
	}
	for i := range all {
		mark(all[i].Steps)
	}
	if n := len(all); n > 0 && d.Problem != "" && d.Server == nil {
		steps := all[n-1].Steps
		steps[len(steps)-1].Kind = templates.StateBad // here it ended
	}
	return all
}

// found are the readings of what was looked for.
var found = map[string]bool{
	"a tool list": true, "a challenge": true, "protected-resource metadata": true, "authorization-server metadata": true,
}

// mark tells which look counts: the last one that found what was looked for.
func mark(steps []templates.DiagnosisStep) {
	for i := len(steps) - 1; i >= 0; i-- {
		if found[steps[i].Read] {
			steps[i].Kind = templates.StateOK
			return
		}
	}
}

// outcome is what follows from a look, as far as it came.
func outcome(d connect.Diagnosis) []templates.Fact {
	var facts []templates.Fact
	add := func(label, value string, mono bool) {
		if value != "" {
			facts = append(facts, templates.Fact{Label: label, Value: clean(value), Mono: mono})
		}
	}
	if s := d.Server; s != nil {
		add("Authorization server", s.Issuer, true)
		if s.Assumed {
			add("Its document", "none: its endpoints are assumed, or the connector's own", false)
		}
		add("Signs in at", hostOf(s.AuthorizationEndpoint), true)
		add("Gives tokens at", hostOf(s.TokenEndpoint), true)
		add("Client", d.Client, false)
		add("Resource", resourceName(d.Resource), d.Resource != "")
	}
	add("Server asks for", behaviourName(d.Behaviour), false)
	if d.Server != nil && len(d.Scopes) == 0 {
		add("Scopes", "none: the server decides", false)
	}
	return facts
}

func resourceName(resource string) string {
	if resource == "" {
		return "none is sent"
	}
	return resource
}

// hostOf is the host of an address, with its port.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

func stepName(s oauth.Step) string {
	switch s {
	case connect.StepAsk:
		return "The MCP server, asked without a credential"
	case oauth.StepResource:
		return "What the MCP server says of itself"
	case oauth.StepServer:
		return "What the authorization server says of itself"
	case oauth.StepRegister:
		return "Registration"
	default:
		return string(s)
	}
}
