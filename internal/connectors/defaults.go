package connectors

import (
	"time"

	"patchbay/internal/fault"
)

// Defaults are what a tenant's agents and connectors begin with, where whoever makes one says nothing else. Those that are there already
// keep what they have. The zero value is the public contract's.
type Defaults struct {
	Approval      ApprovalMode
	SyncInterval  time.Duration // 0: never
	DefinitionAge time.Duration // 0: any age
	ToolChanges   ToolChangePolicy
	Listen        ListenPolicy
}

// ContractDefaults are those of the public contract.
func ContractDefaults() Defaults {
	d := NewDraft()
	return Defaults{
		Approval: ApprovalAlwaysAsk, SyncInterval: d.SyncInterval, DefinitionAge: d.DefinitionAge, ToolChanges: d.ToolChanges, Listen: d.Listen,
	}
}

// Draft is a new connector that nobody has described yet.
func (d Defaults) Draft() Draft {
	draft := NewDraft()
	if d == (Defaults{}) {
		return draft
	}
	draft.SyncInterval, draft.DefinitionAge, draft.ToolChanges, draft.Listen = d.SyncInterval, d.DefinitionAge, d.ToolChanges, d.Listen
	return draft
}

// Validate tells what is wrong, by the rules for the agents and connectors that begin so. The locations are "defaults.approval" and so on, as in the JSON document.
func (d Defaults) Validate() []fault.Field {
	var c check
	oneOf(&c, "defaults.approval", d.Approval, ApprovalAlwaysAsk, ApprovalTrustedOnly, ApprovalAuto)
	c.interval("defaults.sync_interval_s", d.SyncInterval)
	c.definitionAge("defaults.max_definition_age_s", d.DefinitionAge)
	oneOf(&c, "defaults.tool_changes", d.ToolChanges, ToolChangesAuto, ToolChangesHoldRisky, ToolChangesHoldAll)
	oneOf(&c, "defaults.listen", d.Listen, ListenAuto, ListenOff)
	return c.fields
}
