package tools

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	callpages "patchbay/internal/admin/calls"
	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// toView is the form and the result of a trial.
func (t trial) toView(ctx context.Context, can templates.Permissions) *templates.TryIt {
	v := &templates.TryIt{
		Action: shell.ToolPath(t.tool.connector.Slug, t.tool.Name) + "/try", Definition: t.tool.Hash.String(),
		AsJSON: t.asJSON, OnlyJSON: t.tool.form.jsonOnlyReason, Result: t.result, Form: t.form,
		Timeouts: timeoutChoice(ctx, t.timeout, t.tool.connector.Timeout),
	}
	v.Form.Values = map[string]string{
		"agent": t.agent, "json": t.typed, "timeout_ms": t.timeout, "timeout_ms_number": t.values.Get("timeout_ms_number"), "timeout_ms_unit": t.values.Get("timeout_ms_unit"),
	}
	v.Agents = t.tool.runnerOptions(ctx, can)
	if v.Own = can.Manage; t.question != "" {
		v.Question = &templates.TryQuestion{Text: t.question, Value: t.tool.Hash.String()}
	}
	maps.DeleteFunc(v.Form.Values, func(_, value string) bool { return value == "" })
	switch {
	case t.tool.RemovedAt != nil:
		v.Instead = i18n.T(ctx, "The server no longer offers it.")
	case !t.tool.connector.Enabled:
		v.Instead = i18n.T(ctx, "Connector disabled.")
	case len(v.Agents) > 0:
	case can.Manage:
		v.Instead = i18n.T(ctx, "Each agent has its own account here, and none is connected yet.")
		v.Repair = &templates.Link{Text: i18n.T(ctx, "Open credentials"), Href: shell.CredentialsPath(t.tool.connector.Slug)}
	default:
		v.Instead = i18n.T(ctx, "Members try tools as an agent, under its rules. No enabled agent has access to this one.")
	}
	if !t.asJSON {
		v.Fields = t.tool.form.toView(ctx, t.values, t.wrong)
		addErrors(v.Fields, t.form.Errors)
	}
	return v
}

// timeoutChoice offers the connector's timeout, and shorter ones.
func timeoutChoice(ctx context.Context, present string, limit time.Duration) templates.DurationChoice {
	list := []time.Duration{time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute}
	c := shell.NewDurationChoice(ctx, present, time.Millisecond, slices.DeleteFunc(list, func(d time.Duration) bool { return d >= limit })...)
	c.Options = slices.Insert(c.Options, 0, templates.Option{Label: i18n.T(ctx, "The connector's: %s", shell.FormatSpan(ctx, limit))})
	return c
}

// trialResult is a trial's result so far.
func trialResult(ctx context.Context, c connectors.ToolCall, hasOutputSchema bool, tenant connectors.Tenant) *templates.Result {
	link := &templates.Link{Text: i18n.T(ctx, "Open call"), Href: shell.CallPath(c.ID)}
	since := c.StartedAt.UTC().Format(time.RFC3339Nano)
	switch {
	case c.Status == connectors.CallPendingApproval:
		return &templates.Result{Waiting: &templates.ResultWait{
			Text: i18n.T(ctx, "This agent's calls need approval. Nothing has been sent yet."), Since: since, Link: templates.Link{Text: i18n.T(ctx, "Open approval"), Href: shell.ApprovalPath(c.ID)},
		}}
	case c.Status == connectors.CallRunning:
		return &templates.Result{Waiting: &templates.ResultWait{Text: i18n.T(ctx, "Still running."), Since: since, Link: *link}}
	case c.Status != connectors.CallSuccess && !c.IsError:
		return &templates.Result{Link: link, Facts: shell.FormatDuration(ctx, c.Duration), Problem: callpages.FailureAttention(ctx, c)}
	}
	r := callpages.ToolResult{Structured: c.Structured}
	_ = r.Content.UnmarshalJSON(c.Content) // invalid content is shown as empty
	r.IsError.Value = c.IsError
	v := callpages.ResultView(ctx, r, storedPictureURL(c, tenant))
	v.Facts, v.Link = shell.FormatDuration(ctx, c.Duration)+" · "+shell.FormatBytes(ctx, c.ResponseBytes), link
	callpages.AddVerdict(ctx, &v, c)
	if hasOutputSchema && !c.IsError && c.StructuredValid == nil {
		v.Checked = i18n.T(ctx, "No mismatch found; the output schema was only partly checked.")
	}
	return &v
}

// storedPictureURL returns the addresses of a call's pictures; nil if they are not stored or are for auditors
// alone.
func storedPictureURL(c connectors.ToolCall, tenant connectors.Tenant) func(n int) string {
	if tenant.CallHistory == connectors.HistoryNone || tenant.WithholdsBodies() || len(c.Content) > connectors.MaxHistoryBytes {
		return nil
	}
	return func(n int) string { return fmt.Sprintf("%s/pictures/%d", shell.CallPath(c.ID), n) }
}
