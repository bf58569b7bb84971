package api

import (
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

// tenantDefaultsJSON are the defaults of new agents and connectors.
type tenantDefaultsJSON struct {
	Approval          string `json:"approval" enum:"auto,always_ask,trusted_only,always_ask_all" doc:"For agents: which calls need approval."`
	SyncIntervalS     int64  `json:"sync_interval_s" doc:"For connectors. 0: never automatically."`
	MaxDefinitionAgeS int64  `json:"max_definition_age_s" doc:"For connectors. 0: any age."`
	ToolChanges       string `json:"tool_changes" enum:"auto,hold_risky,hold_all" doc:"For connectors."`
	Listen            string `json:"listen" enum:"auto,off" doc:"For connectors."`
}

func viewDefaults(d connectors.Defaults) tenantDefaultsJSON {
	return tenantDefaultsJSON{
		Approval:          string(d.Approval),
		SyncIntervalS:     int64(d.SyncInterval / time.Second),
		MaxDefinitionAgeS: int64(d.DefinitionAge / time.Second),
		ToolChanges:       string(d.ToolChanges),
		Listen:            string(d.Listen),
	}
}

// tenantDefaultsPatch changes defaults. An absent field keeps its value.
type tenantDefaultsPatch struct {
	Approval          *string `json:"approval,omitempty" enum:"auto,always_ask,trusted_only,always_ask_all"`
	SyncIntervalS     *int64  `json:"sync_interval_s,omitempty" minimum:"0" maximum:"31536000" doc:"0: never automatically; otherwise 60 or more."`
	MaxDefinitionAgeS *int64  `json:"max_definition_age_s,omitempty" minimum:"0" maximum:"86400" doc:"0: any age; otherwise 60 or more."`
	ToolChanges       *string `json:"tool_changes,omitempty" enum:"auto,hold_risky,hold_all"`
	Listen            *string `json:"listen,omitempty" enum:"auto,off"`
}

func (p tenantDefaultsPatch) toChange() auth.DefaultsChange {
	return auth.DefaultsChange{
		Approval:      toWord[connectors.ApprovalMode](p.Approval),
		SyncInterval:  wholeSeconds(p.SyncIntervalS),
		DefinitionAge: wholeSeconds(p.MaxDefinitionAgeS),
		ToolChanges:   toWord[connectors.ToolChangePolicy](p.ToolChanges),
		Listen:        toWord[connectors.ListenPolicy](p.Listen),
	}
}

// toWord converts an enum value; nil stays nil.
func toWord[T ~string](value *string) *T {
	if value == nil {
		return nil
	}
	return new(T(*value))
}

// wholeSeconds converts seconds; nil stays nil.
func wholeSeconds(n *int64) *time.Duration {
	if n == nil {
		return nil
	}
	return new(time.Duration(*n) * time.Second)
}
