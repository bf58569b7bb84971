package templates

// ConnectorEndpointPage writes an endpoint of an HTTP API. Its form posts curl, name, title, description, method, url, headers,
// media, body, input, filter, arguments, before and do ("fill", "test", "save" or "delete") to Head.Href + "/endpoint".
type ConnectorEndpointPage struct {
	Frame  Frame
	Head   ConnectorHead
	Form   Form
	Before string   // name of the stored endpoint; empty: it is new
	Notes  []string // what was left out of a curl command
	Params []Param  // of the tool, once the form is valid
	Tokens string
	Result *Result // of the test; nil: there was none
	Said   Quote
}

// endpointFormFields are the fields of the form, with errors of their own.
var endpointFormFields = []string{"curl", "name", "title", "description", "method", "url", "headers", "media", "body", "input", "filter", "arguments", "agent"}

func methodNames() []Option {
	return []Option{{"GET", "GET"}, {"POST", "POST"}, {"PUT", "PUT"}, {"PATCH", "PATCH"}, {"DELETE", "DELETE"}, {"HEAD", "HEAD"}}
}
