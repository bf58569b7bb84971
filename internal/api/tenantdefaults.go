package api

import (
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

// tenantDefaultsJSON are what new agents and connectors begin with.
type tenantDefaultsJSON struct {
	Approval          string `json:"approval" enum:"auto,always_ask,trusted_only" doc:"Of agents: which of their calls wait for a person."`
	SyncIntervalS     int64  `json:"sync_interval_s" doc:"Of connectors. 0: never by itself."`
	MaxDefinitionAgeS int64  `json:"max_definition_age_s" doc:"Of connectors. 0: any age."`
	ToolChanges       string `json:"tool_changes" enum:"auto,hold_risky,hold_all" doc:"Of connectors."`
	Listen            string `json:"listen" enum:"auto,off" doc:"Of connectors."`
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

// tenantDefaultsPatch changes some of them. An absent field keeps what it has.
type tenantDefaultsPatch struct {
	Approval          *string `json:"approval,omitempty" enum:"auto,always_ask,trusted_only"`
	SyncIntervalS     *int64  `json:"sync_interval_s,omitempty" minimum:"0" maximum:"31536000" doc:"0: never by itself; else 60 or more."`
	MaxDefinitionAgeS *int64  `json:"max_definition_age_s,omitempty" minimum:"0" maximum:"86400" doc:"0: any age; else 60 or more."`
	ToolChanges       *string `json:"tool_changes,omitempty" enum:"auto,hold_risky,hold_all"`
	Listen            *string `json:"listen,omitempty" enum:"auto,off"`
}

func (p tenantDefaultsPatch) change() auth.DefaultsChange {
	return auth.DefaultsChange{
		Approval:      word[connectors.ApprovalMode](p.Approval),
		SyncInterval:  wholeSeconds(p.SyncIntervalS),
		DefinitionAge: wholeSeconds(p.MaxDefinitionAgeS),
		ToolChanges:   word[connectors.ToolChangePolicy](p.ToolChanges),
		Listen:        word[connectors.ListenPolicy](p.Listen),
	}
}

// word is one of the product's words; nil stays nil.
func word[T ~string](value *string) *T {
	if value == nil {
		return nil
	}
	return new(T(*value))
}

// wholeSeconds is a time of so many seconds; nil stays nil.
func wholeSeconds(n *int64) *time.Duration {
	if n == nil {
		return nil
	}
	return new(time.Duration(*n) * time.Second)
}
