package templates

import (
	"context"

	"patchbay/internal/i18n"
)

// SettingsPage has the tenant's settings. Each card sends some of settingsFields to /settings, with its id as card.
type SettingsPage struct {
	Frame        Frame
	Form         Form
	Card         string                    // the card with errors; empty: none
	Durations    map[string]DurationChoice // by field
	Histories    []Option                  // what is stored of calls
	Readers      []Option                  // readers of the bodies
	Approvals    []Option                  // approval modes of new agents
	Factors      []Option                  // members that need a second factor
	Results      []Option                  // handling of results that do not fit their output schema
	Exchanges    []Option                  // whether connectors may use token exchange
	History      HistoryLimits
	Keys         SealingKeysPanel
	Quota        TenantQuota
	Facts        []Fact // id, slug, creation, start of history
	Installation []Fact // version, addresses
}

// HistoryLimits bound the days of history. Max is the default.
type HistoryLimits struct{ Min, Max string }

// SealingKeysPanel shows the state of the sealing keys, by their names.
type SealingKeysPanel struct {
	Keys       []SealingKeyRow // oldest first
	Own        bool            // the keys are the tenant's, not the installation's
	Unfinished bool            // a rotation is running
	Facts      []Fact          // made, rotated
}

// SealingKeyRow is one key.
type SealingKeyRow struct {
	ID     string
	State  State
	Sealed string // number of the tenant's values
}

var settingsFields = []string{
	"name", "call_history", "body_readers", "approval_timeout_s", "history_days", "second_factor", "calls_per_minute", "calls_per_day",
	"down_after_failures", "down_after_minutes", "invalid_results",
	"defaults.approval", "defaults.sync_interval_s", "defaults.max_definition_age_s", "defaults.tool_changes", "defaults.listen",
}

// settingsSections are the sections by their anchors.
func settingsSections(ctx context.Context) []Option {
	return []Option{
		{Value: "general", Label: i18n.T(ctx, "General")}, {Value: "calls", Label: i18n.T(ctx, "Calls")}, {Value: "security", Label: i18n.T(ctx, "Security")},
		{Value: "defaults", Label: i18n.T(ctx, "Defaults")}, {Value: "about", Label: i18n.T(ctx, "About")},
	}
}
