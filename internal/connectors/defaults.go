package connectors

import (
	"time"

	"patchbay/internal/fault"
)

// Defaults are the settings of a tenant's new agents and connectors; existing ones are unaffected. The zero
// value means the API's defaults.
type Defaults struct {
	Approval      ApprovalMode
	SyncInterval  time.Duration // 0: never
	DefinitionAge time.Duration // 0: any age
	ToolChanges   ToolChangePolicy
	Listen        ListenPolicy
}

// ContractDefaults are the API's defaults.
func ContractDefaults() Defaults {
	d := NewDraft()
	return Defaults{
		Approval: ApprovalAlwaysAsk, SyncInterval: d.SyncInterval, DefinitionAge: d.DefinitionAge, ToolChanges: d.ToolChanges, Listen: d.Listen,
	}
}

// Draft returns a new connector with the defaults.
func (d Defaults) Draft() Draft {
	draft := NewDraft()
	if d == (Defaults{}) {
		return draft
	}
	draft.SyncInterval, draft.DefinitionAge, draft.ToolChanges, draft.Listen = d.SyncInterval, d.DefinitionAge, d.ToolChanges, d.Listen
	return draft
}

// Validate returns the invalid fields. The locations are JSON paths such as "defaults.approval".
func (d Defaults) Validate() []fault.Field {
	var c validation
	checkOneOf(&c, "defaults.approval", d.Approval, ApprovalAlwaysAsk, ApprovalTrustedOnly, ApprovalAuto, ApprovalAskAll)
	c.checkInterval("defaults.sync_interval_s", d.SyncInterval)
	c.checkDefinitionAge("defaults.max_definition_age_s", d.DefinitionAge)
	checkOneOf(&c, "defaults.tool_changes", d.ToolChanges, ToolChangesAuto, ToolChangesHoldRisky, ToolChangesHoldAll)
	checkOneOf(&c, "defaults.listen", d.Listen, ListenAuto, ListenOff)
	return c.fields
}
