package access

import (
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// tool is one tool as the agent sees it, or does not.
func (b *builder) tool(r *Reach, row store.AccessTool, called string) *Tool {
	t := &Tool{
		Name:   row.Name,
		Called: called,
		Reach:  r,
		Held:   held(r, row),
		Asks:   r.Grant.Asks(b.view.Agent.Approval, row.Name),
		Quota:  row.Quota,
	}
	if t.Quota.Bounds() {
		t.QuotaName = connectors.QuotaName(r.Connector.ID, row.Name)
	}
	if !listed(t.Held) {
		return t
	}
	d := b.definitions[*row.Accepted]
	if d.defect != "" { // it was accepted before such definitions were set aside
		t.Held = HeldMalformed
		return t
	}
	if len(d.names) == 0 { // it cannot be shown under another name
		t.Held = HeldDisabled
		return t
	}
	t.Hash = d.hash
	if called != row.Name || row.AgentText != "" {
		d = b.keeper.curated(d, called, row.AgentText)
		b.view.bytes += int64(len(d.raw))
	}
	t.def, t.Raw = d, d.raw
	t.InputSchema, t.OutputSchema, t.Annotations, t.Hints = d.inputSchema, d.outputSchema, d.annotations, d.hints
	return t
}

// held tells why a tool is not called; empty: it may be.
func held(r *Reach, row store.AccessTool) string {
	switch {
	case !r.Grant.Includes(row.Name):
		return HeldNotGranted
	case !r.Connector.Enabled, !row.Enabled:
		return HeldDisabled
	case row.Removed:
		return HeldRemoved
	case row.Review == connectors.ReviewRejected:
		return HeldRejected
	case row.Accepted == nil:
		return HeldNew
	case row.Review == connectors.ReviewChanged:
		return HeldReview
	}
	return ""
}

// listed tells whether a tool that is held for a reason is listed all the same: with the definition that was accepted before.
func listed(held string) bool { return held == "" || held == HeldReview }
