package templates

import "slices"

// ConnectorEndpointPage writes an endpoint of an HTTP API. Its form posts curl, name, title, description, method, url, headers,
// media, body, input, filter, annotations, arguments, before and do ("fill", "test", "save" or "delete") to Head.Href + "/endpoint".
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

// opensAnnotations reports whether an annotation is set or wrong.
func (p ConnectorEndpointPage) opensAnnotations() bool {
	return slices.ContainsFunc(AnnotationFields, func(name string) bool { return p.Form.Value(name)+p.Form.Error(name) != "" })
}

func methodNames() []Option {
	return []Option{{"GET", "GET"}, {"POST", "POST"}, {"PUT", "PUT"}, {"PATCH", "PATCH"}, {"DELETE", "DELETE"}, {"HEAD", "HEAD"}}
}
