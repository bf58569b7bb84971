package templates_test

import (
	"github.com/a-h/templ"

	"patchbay/web/templates"
)

func auditSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	f := with(frame("Audit log", templates.NavAudit))
	page := templates.AuditPage{
		Frame: f, Count: "2 events", Actions: []templates.Option{{Label: "Everything"}, {Value: "connector", Label: "connector"}},
		Rows: []templates.AuditRow{
			{Sentence: "Anna Smith added the connector Linear", At: ago, Actor: "anna@example.com", Inline: []templates.AuditChange{{Field: "tool_changes", Before: "auto", After: "hold_all", Had: true, Has: true}}, Kind: "person", Action: "connector.create", Target: "linear", Changes: []templates.AuditChange{
				{Field: "name", Before: "Linear", After: "Linear 2", Had: true, Has: true}, {Field: "secret", Before: "hmac:1", After: "hmac:1", Had: true, Has: true, Same: true}, {Field: "url", After: "https://mcp.linear.app/mcp", Has: true},
			}, Detail: "{\n  \"url\": \"https://mcp.linear.app/mcp\"\n}", Request: "0189aaaa", IP: "192.0.2.1"},
			{Sentence: "Patchbay couldn't revoke a deleted account at GitHub", At: longAgo, Actor: "Patchbay", Kind: "system", Action: "credential.revoked", Target: "github"},
		},
	}
	page.Verdict = templates.AuditVerdict{State: templates.State{Kind: templates.StateOK, Text: "All entries intact"}, At: &ago, Good: "2 entries intact"}
	page.Calls = &templates.AuditVerdict{State: templates.State{Kind: templates.StateOK, Text: "All recorded outcomes match"}, At: &ago, Good: "1,204 calls match"}
	page.Signed = templates.AuditSigned{
		Entries: "/audit/export.jsonl?until=2", Signature: "/audit/export.sig?until=2", Key: []templates.Fact{{Label: "Public key", Value: "MCowBQYDK2VwAyEA", Mono: true, Copy: true}},
	}
	pages["audit"] = templates.Audit(page)
	bad := page
	bad.Rows = []templates.AuditRow{page.Rows[0]}
	bad.Rows[0].Bad, bad.Single, bad.Filtered = true, true, true
	bad.Verdict = templates.AuditVerdict{
		State: templates.State{Kind: templates.StateBad, Text: "Entry 2 was altered"}, At: &ago, Good: "1 entry intact",
		Reason: "This entry or an earlier one was altered.", Place: &templates.Link{Text: "Show entry", Href: "/audit?entry=0189aaaa"},
	}
	bad.Calls = &templates.AuditVerdict{
		State: templates.State{Kind: templates.StateBad, Text: "Recorded outcomes don't match"}, At: &ago,
		Reason: "A finished call was changed in the database.", Place: &templates.Link{Text: "Show call", Href: "/calls/0189aaaa"},
	}
	pages["audit-bad"] = templates.Audit(bad)
	page.Rows, page.Count, page.Filtered = nil, "0 events", true
	page.Filter = templates.Form{Errors: map[string]string{"since": "Use dates like 2026-11-21."}}
	pages["audit-none"] = templates.Audit(page)
	pages["audit-empty"] = templates.Audit(templates.AuditPage{Frame: f})
}
