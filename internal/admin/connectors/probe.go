package connectors

import (
	"context"
	"net/http"
	"strconv"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/toolsync"
	"patchbay/web"
	"patchbay/web/templates"
)

// connectorTest connects to the server that a form describes, and stores nothing. It shows the form again
// without its secrets, with the result. A script gets the result alone.
func (h *Handler) connectorTest(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	var before *connectors.Connector
	if id := f.Text("id"); id != "" {
		c, err := h.TenantStore(r).Connectors().Get(r.Context(), connectors.Ref(id))
		if err != nil {
			return err
		}
		before = &c
	}
	shell.ClearWriteDeadline(w)
	report, name, err := h.probeServer(r, f, before)
	problem, ok := shell.AsFormFault(r.Context(), err)
	if err != nil && !ok {
		return err
	}
	status, result := http.StatusOK, testResult(r.Context(), name, report)
	if problem != nil {
		status, result = respond.Status(problem.Kind), refusedTest(problem)
	}
	if r.Header.Get("HX-Request") != "" {
		return h.Respond.Page(w, r, status, templates.TestPanel(web.Asset, result))
	}
	if problem != nil {
		result = nil // each field has its own error
	}
	if before != nil {
		s, err := h.loadSettings(r, connectors.Ref(before.ID.String()))
		if err != nil {
			return err
		}
		return h.settingsPage(w, r, status, s, f.ToForm(problem), result)
	}
	return h.connectorFormPage(w, r, status, f.ToForm(problem), result)
}

// probeServer connects to the server. For a stored connector an empty secret means the stored one.
func (h *Handler) probeServer(r *http.Request, f shell.PostedForm, before *connectors.Connector) (toolsync.ProbeReport, string, error) {
	base := connectors.NewDraft()
	if before != nil {
		base = connectors.DraftOf(*before)
	}
	d, err := readDraft(r.Context(), f, base)
	if err != nil {
		return toolsync.ProbeReport{}, d.Name, err
	}
	tenant, secrets := shell.Actor(r).Tenant.ID, ReadSecrets(f, d.Auth.Type, "auth.")
	event := new(shell.Actor(r).Event("connector.test", ""))
	if before != nil {
		report, err := h.Syncer.ProbeStored(r.Context(), tenant, event, connectors.Ref(before.ID.String()), d, secrets)
		return report, d.Name, err
	}
	report, err := h.Syncer.Probe(r.Context(), tenant, event, d, secrets)
	return report, d.Name, err
}

// maxTested bounds the tools in a test's result.
const maxTested = 200

func testResult(ctx context.Context, name string, report toolsync.ProbeReport) *templates.TestResult {
	if report.Error != nil {
		return &templates.TestResult{Failure: toFailure(ctx, report.Error)}
	}
	if name == "" {
		name = i18n.T(ctx, "The server") // the name may be still empty
	}
	result := &templates.TestResult{
		OK:      true,
		Summary: i18n.N(ctx, len(report.Tools), "%[2]s answered with %[1]s tool.", "%[2]s answered with %[1]s tools.", name),
		Facts:   serverFacts(ctx, connectors.Connector{Server: report.Server, Era: report.Era, Capabilities: report.Capabilities}, nil),
	}
	if totals := itemTotals(ctx, &report.Items); totals != "" {
		result.Facts = append(result.Facts, templates.Fact{Label: i18n.T(ctx, "Also found"), Value: totals})
	}
	if len(report.Tools) > maxTested {
		result.Facts = append(result.Facts, templates.Fact{Label: i18n.T(ctx, "Shown"), Value: i18n.T(ctx, "first %d tools", maxTested)})
	}
	for _, t := range report.Tools[:min(len(report.Tools), maxTested)] {
		result.Tools = append(result.Tools, toolpages.DefinitionView(ctx, t, toolpages.ListDetail))
	}
	for _, q := range report.Quarantined[:min(len(report.Quarantined), maxTested)] {
		result.Quarantined = append(result.Quarantined, toolpages.QuarantinedTool(ctx, q))
	}
	return result
}

// toFailure shows why the connection to a server failed.
func toFailure(ctx context.Context, f *fault.Error) *templates.Failure {
	failure := &templates.Failure{Sentence: i18n.TranslateKnown(ctx, f.Message)}
	if f.Code != "" {
		failure.Facts = append(failure.Facts, templates.Fact{Label: i18n.T(ctx, "Code"), Value: f.Code, Mono: true})
	}
	if f.Remote == nil {
		return failure
	}
	failure.Phase, failure.Said = shell.PhaseName(ctx, f.Remote.Phase), respond.NewQuote(ctx, connectors.UpstreamOf(f.Remote))
	if f.Remote.HTTPStatus != 0 {
		failure.Facts = append(failure.Facts, templates.Fact{Label: i18n.T(ctx, "HTTP status"), Value: shell.StatusText(f.Remote.HTTPStatus)})
	}
	if f.Remote.RPCCode != 0 {
		failure.Facts = append(failure.Facts, templates.Fact{Label: i18n.T(ctx, "JSON-RPC error"), Value: strconv.Itoa(f.Remote.RPCCode), Mono: true})
	}
	return failure
}

// refusedTest says why there was nothing to test.
func refusedTest(problem *fault.Error) *templates.TestResult {
	failure := &templates.Failure{Sentence: problem.Message}
	if len(problem.Fields) > 1 {
		for _, field := range problem.Fields {
			failure.Facts = append(failure.Facts, templates.Fact{Label: field.Location, Value: field.Message})
		}
	}
	return &templates.TestResult{Failure: failure}
}
