package templates

// ConnectorFormPage adds a connector. Its form posts to /connectors, and with the test button to /connectors/test.
type ConnectorFormPage struct {
	Frame Frame
	Form  Form
	Test  *TestResult // nil: not tested
}

// ConnectorSettingsPage changes, disables or deletes a connector. Its form posts to Head.Href, and with the test button
// to /connectors/test.
type ConnectorSettingsPage struct {
	Frame   Frame
	Head    ConnectorHead
	Form    Form // with version, for edits that meet
	Stored  bool // a secret is stored: leaving the secret fields empty keeps it
	Enabled bool
	Test    *TestResult
	Goes    []string // what a deletion takes with it: "22 tools and their history"
}

// TestResult is what a test of the connection found.
type TestResult struct {
	OK          bool
	Summary     string // "Linear answered with 23 tools."
	Facts       []Fact // server, version, protocol
	Tools       []ToolView
	Quarantined []QuarantinedTool
	Failure     *Failure
}

// Failure tells what went wrong between us and a server.
type Failure struct {
	Sentence string // "The server refused the credential (401)."
	Phase    string // in words: "while opening the session"
	Advice   string // what to do; empty: nothing is known
	Facts    []Fact // code, HTTP status, …
}

// connectorFields are the names that the connector form has, which are those of the JSON API. headers is a text of
// "Name: value" lines; enabled is "true" or absent; times are numbers in the unit of their name.
var connectorFields = []string{
	"name", "slug", "description", "transport", "url", "headers", "credential_mode",
	"auth.type", "auth.token", "auth.key", "auth.header", "auth.username", "auth.password",
	"timeout_ms", "retry_attempts", "sync_interval_s", "enabled", "version", "id",
}
