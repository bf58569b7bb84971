package templates

// SettingsPage is about the tenant. Its form sends settingsFields to /settings.
type SettingsPage struct {
	Frame        Frame
	Form         Form
	Histories    []Option // what calls keep
	Readers      []Option // who reads that
	Approvals    []Option // which calls of new agents wait
	Factors      []Option // who needs a second factor
	History      HistoryLimits
	Keys         SealingKeysPanel
	Quota        TenantQuota
	Facts        []Fact // id, slug, made, from when there is history
	Installation []Fact // version, addresses
}

// HistoryLimits are how many days of history may be kept. Most are kept where nothing is said.
type HistoryLimits struct{ Least, Most string }

// SealingKeysPanel says how the keys are that seal secrets. It has their names alone.
type SealingKeysPanel struct {
	Keys       []SealingKeyRow // oldest first
	Own        bool            // the tenant's own, and not the installation's
	Unfinished bool            // a rotation is not at its end
	Facts      []Fact          // made, rotated
}

// SealingKeyRow is one key.
type SealingKeyRow struct {
	ID     string
	State  State
	Sealed string // how many values of the tenant
}

// settingsFields are the fields of the form.
var settingsFields = []string{
	"name", "call_history", "body_readers", "approval_timeout_s", "history_days", "second_factor", "calls_per_minute", "calls_per_day",
	"defaults.approval", "defaults.sync_interval_s", "defaults.max_definition_age_s", "defaults.tool_changes", "defaults.listen",
}
