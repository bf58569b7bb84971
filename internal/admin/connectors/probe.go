package connectors

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

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
	f, err := readConnectorForm(w, r)
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
	result, err := h.testConnector(r, f, before)
	problem, ok := shell.AsFormFault(r.Context(), err)
	if err != nil && !ok {
		return err
	}
	status := http.StatusOK
	if problem != nil {
		status, result = respond.Status(problem.Kind), refusedTest(problem)
	}
	result.Short = f.Checked("auto")
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
	form := f.ToForm(problem)
	if result != nil && result.SignIn != nil {
		useSignIn(form, result)
	}
	return h.connectorFormPage(w, r, status, form, result)
}

// testConnector connects to the server, or reads the document of an HTTP API.
func (h *Handler) testConnector(r *http.Request, f shell.PostedForm, before *connectors.Connector) (*templates.TestResult, error) {
	if connectors.Transport(f.Text("transport")) == connectors.TransportAPI {
		return h.testAPI(r, f, before)
	}
	report, probed, err := h.probeServer(r, f, before)
	if err != nil {
		return nil, err
	}
	if before == nil && report.Error != nil {
		if found := h.findDocument(r, probed); found != nil {
			return found, nil
		}
	}
	return testResult(r.Context(), probed, report), nil
}

// testTimeout bounds the test of a server at a URL. A program may take its own timeout, since it may install itself first.
const testTimeout = 10 * time.Second

// probeServer connects to the server once. For a stored connector an empty secret means the stored one.
func (h *Handler) probeServer(r *http.Request, f shell.PostedForm, before *connectors.Connector) (toolsync.ProbeReport, connectors.Draft, error) {
	base := connectors.NewDraft()
	if before != nil {
		base = connectors.DraftOf(*before)
	}
	d, err := readDraft(r.Context(), f, base)
	if err != nil {
		return toolsync.ProbeReport{}, d, err
	}
	ctx := r.Context()
	if d.Transport != connectors.TransportStdio && d.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, testTimeout)
		defer cancel()
		d.Timeout, d.RetryAttempts = min(d.Timeout, testTimeout), 0
	}
	tenant, secrets := shell.Actor(r).Tenant.ID, ReadSecrets(f, d.Auth.Type, "auth.")
	event := new(shell.Actor(r).Event("connector.test", ""))
	if before != nil {
		report, err := h.Syncer.ProbeStored(ctx, tenant, event, connectors.Ref(before.ID.String()), d, secrets)
		return report, d, err
	}
	report, err := h.Syncer.Probe(ctx, tenant, event, d, secrets)
	return report, d, err
}

// maxTested bounds the tools in a test's result.
const maxTested = 200

func testResult(ctx context.Context, d connectors.Draft, report toolsync.ProbeReport) *templates.TestResult {
	if report.Error != nil {
		return failedTest(ctx, d, report)
	}
	name := d.Name
	if name == "" {
		name = i18n.T(ctx, "The server") // the name may be still empty
	}
	result := &templates.TestResult{
		Kind:    templates.StateOK,
		Summary: i18n.N(ctx, len(report.Tools), "%[2]s answered with %[1]s tool.", "%[2]s answered with %[1]s tools.", name),
		Name:    shell.ShortenText(shell.CleanText(cmp.Or(report.Server.Title, report.Server.Name)), connectors.MaxName),
		Facts:   serverFacts(ctx, connectors.Connector{Server: report.Server, Era: report.Era, Capabilities: report.Capabilities}, nil),
	}
	if report.Era == "handshake" && d.Transport != connectors.TransportStdio {
		session := i18n.T(ctx, "none")
		if report.Stateful {
			session = i18n.T(ctx, "Mcp-Session-Id issued")
		}
		if report.SessionHint != "" {
			session = "Mcp-Session-Id " + report.SessionHint + "…"
		}
		result.Facts = append(result.Facts, templates.Fact{Label: i18n.T(ctx, "Session"), Value: session})
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

// failedTest shows a test without a tool list. A server that asks for what only a stored connector gets is reachable.
func failedTest(ctx context.Context, d connectors.Draft, report toolsync.ProbeReport) *templates.TestResult {
	refused := report.Error.Remote != nil && report.Error.Remote.HTTPStatus == http.StatusUnauthorized
	switch {
	case refused && d.Auth.Type == connectors.AuthNone && report.OAuth != "":
		return &templates.TestResult{
			Kind: templates.StateWarn, Summary: i18n.T(ctx, "This server uses OAuth at %s.", report.OAuth), OffersOAuth: true,
			Help: i18n.T(ctx, "Choose “Account (OAuth)” under Authentication."),
		}
	case refused && d.Auth.Type == connectors.AuthOAuth2:
		return &templates.TestResult{Kind: templates.StateWarn, Summary: i18n.T(ctx, "Reachable. Connect an account after adding.")}
	case refused && d.Auth.Type != connectors.AuthNone && d.CredentialMode == connectors.CredentialPerAgent:
		return &templates.TestResult{Kind: templates.StateWarn, Summary: i18n.T(ctx, "Reachable. Set the agents' credentials after adding.")}
	}
	return &templates.TestResult{Kind: templates.StateBad, Summary: i18n.T(ctx, "No connection"), Failure: toFailure(ctx, report.Error)}
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

// refusedTest says why there was nothing to test. A script moves the messages of fields to them.
func refusedTest(problem *fault.Error) *templates.TestResult {
	result := &templates.TestResult{Kind: templates.StateBad, Summary: problem.Message}
	for _, field := range problem.Fields {
		result.Fields = append(result.Fields, templates.FieldProblem{Name: field.Location, Message: field.Message})
	}
	return result
}
