package agentview

import (
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// newTool builds one tool of the agent; an unavailable one has BlockedBy set.
func (b *viewBuilder) newTool(connector *ConnectorView, row store.AccessTool, called string) *Tool {
	t := &Tool{
		Name:          row.Name,
		ConnectorName: called,
		Connector:     connector,
		BlockedBy:     blockedReason(connector, row),
		NeedsApproval: connector.Grant.Asks(b.view.Agent.Approval, row.Name),
		Pinned:        slices.Contains(connector.Grant.PinnedTools, row.Name),
		Tags:          row.Tags,
		Quota:         row.Quota,
	}
	b.setToolEnd(connector, t)
	if t.Quota.Bounds() {
		t.QuotaName = connectors.QuotaName(connector.Connector.ID, row.Name)
	}
	if !isListed(t.BlockedBy) {
		return t
	}
	d := b.definitions[*row.Accepted]
	if d.defect != "" { // accepted by a release that did not check definitions
		t.BlockedBy = BlockedMalformed
		return t
	}
	if len(d.names) == 0 { // without a name it cannot be renamed
		t.BlockedBy = BlockedDisabled
		return t
	}
	t.Hash = d.hash
	if called != row.Name || row.AgentText != "" {
		d = b.cache.curateDefinition(d, called, row.AgentText)
		b.view.bytes += int64(len(d.raw))
	}
	t.OutputSchema = d.outputSchema
	if s := connector.Grant.Shaping[row.Name]; !s.IsZero() && b.view.Tenant.CallHistory != connectors.HistoryNone {
		t.Shaping, connector.shapes = s, true
		d = b.cache.deriveDefinition(d, describeShaping(d.raw, s))
		b.view.bytes += int64(len(d.raw))
	}
	t.def, t.Raw = d, d.raw
	t.TaskSupport, t.OffersTasks = d.taskSupport, connector.offersTasks(d.taskSupport)
	t.InputSchema, t.Annotations, t.Hints = d.inputSchema, d.annotations, d.hints
	return t
}

// blockedReason returns why a tool cannot be called, as a BlockedBy code; empty if it can.
func blockedReason(connector *ConnectorView, row store.AccessTool) string {
	switch {
	case !connector.Grant.Includes(row.Name):
		if _, was := connector.granted.ToolEnd(row.Name); was {
			return HeldEnded
		}
		return HeldNotGranted
	case !connector.Connector.Enabled, !row.Enabled:
		return BlockedDisabled
	case row.Removed:
		return BlockedRemoved
	case row.Review == connectors.ReviewRejected:
		return HeldRejected
	case row.Accepted == nil:
		return BlockedNew
	case row.Review == connectors.ReviewChanged:
		return HeldReview
	}
	return ""
}

// isListed reports whether a tool with this BlockedBy code is listed. One under review is, with its accepted
// definition.
func isListed(held string) bool { return held == "" || held == HeldReview }

// offersTasks reports whether the server runs a tool with this taskSupport as a task. In 2026-07-28 the server decides for
// each call.
func (connector *ConnectorView) offersTasks(taskSupport string) bool {
	return connector.hasTaskExtension || connector.hasTasks && (taskSupport == TaskRequired || taskSupport == TaskOptional)
}
