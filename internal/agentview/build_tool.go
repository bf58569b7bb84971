package agentview

import (
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// newTool builds one tool of the agent; an unavailable one has Held set.
func (b *viewBuilder) newTool(r *Reach, row store.AccessTool, called string) *Tool {
	t := &Tool{
		Name:   row.Name,
		Called: called,
		Reach:  r,
		Held:   holdReason(r, row),
		Asks:   r.Grant.Asks(b.view.Agent.Approval, row.Name),
		Quota:  row.Quota,
	}
	if t.Quota.Bounds() {
		t.QuotaName = connectors.QuotaName(r.Connector.ID, row.Name)
	}
	if !isListed(t.Held) {
		return t
	}
	d := b.definitions[*row.Accepted]
	if d.defect != "" { // accepted by a release that did not check definitions
		t.Held = HeldMalformed
		return t
	}
	if len(d.names) == 0 { // without a name it cannot be renamed
		t.Held = HeldDisabled
		return t
	}
	t.Hash = d.hash
	if called != row.Name || row.AgentText != "" {
		d = b.cache.curateDefinition(d, called, row.AgentText)
		b.view.bytes += int64(len(d.raw))
	}
	t.def, t.Raw = d, d.raw
	t.InputSchema, t.OutputSchema, t.Annotations, t.Hints = d.inputSchema, d.outputSchema, d.annotations, d.hints
	return t
}

// holdReason returns why a tool cannot be called, as a Held code; empty if it can.
func holdReason(r *Reach, row store.AccessTool) string {
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

// isListed reports whether a tool with this Held code is listed. One under review is, with its accepted
// definition.
func isListed(held string) bool { return held == "" || held == HeldReview }
