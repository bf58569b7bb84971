package agentview

import (
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

// NewOwnTool returns a tool as a person calls it for themselves: without a grant and without approval, by its current
// definition, accepted or not. BlockedBy says why it cannot be called. The agent owns the credential; zero: the connector's
// shared one is used. Its limits do not apply.
func NewOwnTool(tenant connectors.Tenant, c connectors.Connector, tool connectors.Tool, agent connectors.Agent) (*View, *Tool) {
	c.DiscoveredTools = nil
	connector := &ConnectorView{Slug: c.Slug, Connector: c, Capabilities: c.Capabilities}
	connector.hasTasks, connector.hasTaskExtension = mcp.DeclaredTasks(c.Capabilities)
	view := &View{Tenant: tenant, Agent: connectors.Agent{ID: agent.ID, Slug: agent.Slug, Name: agent.Name, Enabled: true}}
	t := &Tool{
		Name: tool.Name, ConnectorName: tool.AgentName(), Exposed: connectors.ExposedName(c.Slug, tool.AgentName()), Connector: connector,
		Hash: tool.Hash, Quota: tool.Quota,
	}
	if t.Quota.Bounds() {
		t.QuotaName = connectors.QuotaName(c.ID, tool.Name)
	}
	d := newDefinition(tool.Hash, tool.Raw)
	if t.BlockedBy = ownBlockedReason(c, tool, d); t.BlockedBy != "" {
		return view, t
	}
	t.def, t.Raw = d, d.raw
	t.TaskSupport, t.OffersTasks = d.taskSupport, connector.offersTasks(d.taskSupport)
	t.InputSchema, t.OutputSchema, t.Annotations, t.Hints = d.inputSchema, d.outputSchema, d.annotations, d.hints
	return view, t
}

// ownBlockedReason returns why a person cannot call a tool for themselves; empty: they can. A new or changed definition is no
// reason: a person tries it before it is accepted.
func ownBlockedReason(c connectors.Connector, tool connectors.Tool, d *definition) string {
	switch {
	case !c.Enabled, !tool.Enabled:
		return BlockedDisabled
	case tool.RemovedAt != nil:
		return BlockedRemoved
	case tool.Review == connectors.ReviewRejected:
		return HeldRejected
	case d.defect != "":
		return BlockedMalformed
	}
	return ""
}
