package templates

// SettingsPage is about the tenant. Its form sends name to /settings.
type SettingsPage struct {
	Frame Frame
	Form  Form
	Facts []Fact // id, slug, made
}
