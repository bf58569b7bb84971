package accounts

import (
	"context"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/oauth"
	"patchbay/web/templates"
)

// newDiagnosis shows the discovery of an authorization server; a nil d means that none ran.
func (h *Handler) newDiagnosis(ctx context.Context, c connectors.Connector, d *connect.Diagnosis) *templates.Diagnosis {
	view := &templates.Diagnosis{Title: i18n.T(ctx, "Diagnosis"), Action: shell.ConnectorPath(c.Slug) + "/diagnose"}
	if d == nil {
		return view
	}
	view.Stages = diagnosisStages(ctx, *d)
	view.Outcome = append(diagnosisFacts(ctx, *d), templates.Fact{Label: i18n.T(ctx, "Checked"), When: new(shell.NewWhen(ctx, d.At, h.Now()))})
	view.Scopes = d.Scopes
	if d.Problem != "" {
		view.Problem = &templates.Attention{
			Kind: templates.StateBad, Title: i18n.T(ctx, "Can't connect an account"), Text: i18n.TranslateKnown(ctx, d.Problem),
			Action: &templates.Link{Text: i18n.T(ctx, "Open settings"), Href: shell.ConnectorPath(c.Slug) + "/settings"},
		}
	}
	return view
}

// diagnosisStages groups the steps of a trace by kind.
func diagnosisStages(ctx context.Context, d connect.Diagnosis) []templates.DiagnosisStage {
	var all []templates.DiagnosisStage
	for i, step := range d.Trace {
		if i == 0 || d.Trace[i-1].Step != step.Step {
			all = append(all, templates.DiagnosisStage{Name: stepName(ctx, step.Step)})
		}
		stage := &all[len(all)-1]
		view := templates.DiagnosisStep{Kind: templates.StateOff, URL: shell.CleanText(step.URL), Read: step.Read, Decided: shell.CleanText(i18n.TranslateKnown(ctx, step.Decided))}
		if step.Status != 0 {
			view.Status = shell.StatusText(step.Status)
		}
		stage.Steps = append(stage.Steps, view)
	}
	for i := range all {
		markDecisiveStep(all[i].Steps)
		for j, step := range all[i].Steps {
			all[i].Steps[j].Read = i18n.TranslateKnown(ctx, step.Read)
		}
	}
	if n := len(all); n > 0 && d.Problem != "" && d.Server == nil {
		steps := all[n-1].Steps
		steps[len(steps)-1].Kind = templates.StateBad // the discovery ended here
	}
	return all
}

// foundReadings are the readings that mean a document was found.
var foundReadings = map[string]bool{
	"a tool list": true, "a challenge": true, "protected-resource metadata": true, "authorization-server metadata": true,
}

// markDecisiveStep marks the last step that found its document.
func markDecisiveStep(steps []templates.DiagnosisStep) {
	for i := len(steps) - 1; i >= 0; i-- {
		if foundReadings[steps[i].Read] {
			steps[i].Kind = templates.StateOK
			return
		}
	}
}

// diagnosisFacts are the results of the discovery, as far as it came.
func diagnosisFacts(ctx context.Context, d connect.Diagnosis) []templates.Fact {
	var facts []templates.Fact
	add := func(label, value string, mono bool) {
		if value != "" {
			facts = append(facts, templates.Fact{Label: label, Value: shell.CleanText(value), Mono: mono})
		}
	}
	if s := d.Server; s != nil {
		add(i18n.T(ctx, "Authorization server"), s.Issuer, true)
		if s.Assumed {
			add(i18n.T(ctx, "Metadata"), i18n.T(ctx, "none; using default or configured endpoints"), false)
		}
		add(i18n.T(ctx, "Authorization endpoint"), shell.HostWithPort(s.AuthorizationEndpoint), true)
		add(i18n.T(ctx, "Token endpoint"), shell.HostWithPort(s.TokenEndpoint), true)
		add(i18n.T(ctx, "Client"), i18n.TranslateKnown(ctx, d.Client), false)
		add(i18n.T(ctx, "Resource"), resourceName(ctx, d.Resource), d.Resource != "")
	}
	add(i18n.T(ctx, "Server requires"), connectorpages.BehaviourName(ctx, d.Behaviour), false)
	if d.Server != nil && len(d.Scopes) == 0 {
		add(i18n.T(ctx, "Scopes"), i18n.T(ctx, "server default"), false)
	}
	return facts
}

func resourceName(ctx context.Context, resource string) string {
	if resource == "" {
		return i18n.T(ctx, "not sent")
	}
	return resource
}

func stepName(ctx context.Context, s oauth.Step) string {
	switch s {
	case connect.StepProbe:
		return i18n.T(ctx, "MCP server, without credentials")
	case oauth.StepResource:
		return i18n.T(ctx, "MCP server metadata")
	case oauth.StepServer:
		return i18n.T(ctx, "Authorization server metadata")
	case oauth.StepRegister:
		return i18n.T(ctx, "Registration")
	default:
		return string(s)
	}
}
