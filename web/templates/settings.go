package templates

// SettingsPage is about the tenant. Its form sends name, call_history and approval_timeout_s to /settings.
type SettingsPage struct {
	Frame     Frame
	Form      Form
	Histories []Option // what calls keep
	Facts     []Fact   // id, slug, made
}
