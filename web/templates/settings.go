package templates

// SettingsPage is about the tenant. Its form sends name, call_history, approval_timeout_s and history_days to /settings.
type SettingsPage struct {
	Frame     Frame
	Form      Form
	Histories []Option // what calls keep
	History   HistoryLimits
	Facts     []Fact // id, slug, made, from when there is history
}

// HistoryLimits are how many days of history may be kept. Most are kept where nothing is said.
type HistoryLimits struct{ Least, Most string }
