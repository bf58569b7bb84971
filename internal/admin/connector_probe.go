package admin

import (
	"context"
	"net/http"
	"strconv"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/toolsync"
	"patchbay/internal/words"
	"patchbay/web"
	"patchbay/web/templates"
)

// connectorTest talks to the server that a form describes, and stores nothing. It answers with the form as it was typed,
// but for secrets, and what the server said; where a script asks, with what the server said alone.
func (h *Handler) connectorTest(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	var before *connectors.Connector
	if id := f.text("id"); id != "" {
		c, err := h.tenant(r).Connector(r.Context(), connectors.Ref(id))
		if err != nil {
			return err
		}
		before = &c
	}
	waitLong(w)
	report, name, err := h.probe(r, f, before)
	problem, ok := mendable(r.Context(), err)
	if err != nil && !ok {
		return err
	}
	status, result := http.StatusOK, testResult(r.Context(), name, report)
	if problem != nil {
		status, result = respond.Status(problem.Kind), refusedTest(problem)
	}
	if r.Header.Get("HX-Request") != "" {
		return h.respond.Page(w, r, status, templates.TestPanel(web.Asset, result))
	}
	if problem != nil {
		result = nil // each field says what is wrong with it
	}
	if before != nil {
		return h.settingsPage(w, r, status, *before, f.again(problem), result)
	}
	return h.connectorFormPage(w, r, status, f.again(problem), result)
}

// probe talks to the server. For a stored connector an empty secret means the stored one.
func (h *Handler) probe(r *http.Request, f form, before *connectors.Connector) (toolsync.ProbeReport, string, error) {
	base := connectors.NewDraft()
	if before != nil {
		base = connectors.DraftOf(*before)
	}
	d, err := f.draft(r.Context(), base)
	if err != nil {
		return toolsync.ProbeReport{}, d.Name, err
	}
	tenant, secrets := actor(r).Tenant.ID, f.secrets(d.Auth.Type, "auth.")
	asked := new(actor(r).Event("connector.test", ""))
	if before != nil {
		report, err := h.syncer.ProbeStored(r.Context(), tenant, asked, connectors.Ref(before.ID.String()), d, secrets)
		return report, d.Name, err
	}
	report, err := h.syncer.Probe(r.Context(), tenant, asked, d, secrets)
	return report, d.Name, err
}

// maxTested is how many tools the result of a test shows: a server may list thousands.
const maxTested = 200

// testResult tells what a test found.
func testResult(ctx context.Context, name string, report toolsync.ProbeReport) *templates.TestResult {
	if report.Error != nil {
		return &templates.TestResult{Failure: failureOf(ctx, report.Error)}
	}
	if name == "" {
		name = words.T(ctx, "The server") // a test may come before the name
	}
	result := &templates.TestResult{
		OK:      true,
		Summary: words.N(ctx, len(report.Tools), "%[2]s answered with %[1]s tool.", "%[2]s answered with %[1]s tools.", name),
		Facts:   serverFacts(ctx, connectors.Connector{Server: report.Server, Era: report.Era}, nil),
	}
	if len(report.Tools) > maxTested {
		result.Facts = append(result.Facts, templates.Fact{Label: words.T(ctx, "Shown"), Value: words.T(ctx, "the first %d tools", maxTested)})
	}
	for _, t := range report.Tools[:min(len(report.Tools), maxTested)] {
		result.Tools = append(result.Tools, definitionView(ctx, t, inList))
	}
	for _, q := range report.Quarantined[:min(len(report.Quarantined), maxTested)] {
		result.Quarantined = append(result.Quarantined, quarantinedTool(ctx, q))
	}
	return result
}

// failureOf tells how a conversation with a server failed.
func failureOf(ctx context.Context, f *fault.Error) *templates.Failure {
	failure := &templates.Failure{Sentence: words.Said(ctx, f.Message)}
	if f.Code != "" {
		failure.Facts = append(failure.Facts, templates.Fact{Label: words.T(ctx, "Code"), Value: f.Code, Mono: true})
	}
	if f.Remote == nil {
		return failure
	}
	failure.Phase = phaseName(ctx, f.Remote.Phase)
	if f.Remote.HTTPStatus != 0 {
		failure.Facts = append(failure.Facts, templates.Fact{Label: words.T(ctx, "HTTP status"), Value: statusText(f.Remote.HTTPStatus)})
	}
	if f.Remote.RPCCode != 0 {
		failure.Facts = append(failure.Facts, templates.Fact{Label: words.T(ctx, "JSON-RPC error"), Value: strconv.Itoa(f.Remote.RPCCode), Mono: true})
	}
	return failure
}

// refusedTest tells why there was nothing to test.
func refusedTest(problem *fault.Error) *templates.TestResult {
	failure := &templates.Failure{Sentence: problem.Message}
	if len(problem.Fields) > 1 {
		for _, field := range problem.Fields {
			failure.Facts = append(failure.Facts, templates.Fact{Label: field.Location, Value: field.Message})
		}
	}
	return &templates.TestResult{Failure: failure}
}
