package toolcall

import (
	"encoding/json"
	"errors"
)

// clientCapabilities are the server requests that a client declares to answer.
type clientCapabilities struct {
	Elicitation *struct{ Form, URL *struct{} } `json:"elicitation"`
	Sampling    *struct{}                      `json:"sampling"`
	Roots       *struct{}                      `json:"roots"`
}

func parseCapabilities(capabilities json.RawMessage) (caps clientCapabilities) {
	if len(capabilities) < len(`{"roots":{}}`) || json.Unmarshal(capabilities, &caps) != nil {
		return clientCapabilities{}
	}
	return caps
}

func (c clientCapabilities) canFillForms() bool {
	return c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}
func (c clientCapabilities) canOpenURLs() bool {
	return c.Elicitation != nil && c.Elicitation.URL != nil
}

// errUnsupportedRequest means that the client does not declare the capability. The server gets "method not
// found".
var errUnsupportedRequest = errors.New("the client does not answer this request")

// canAnswer reports whether a server's request may go to the client: a known method that the client declares. A
// client could take anything else for a request of Patchbay.
func (c clientCapabilities) canAnswer(method string, params json.RawMessage) bool {
	switch method {
	case "elicitation/create":
		var mode string
		raw, _ := findMember(params, "mode")
		if json.Unmarshal(raw, &mode) == nil && mode == "url" {
			return c.canOpenURLs()
		}
		return c.canFillForms()
	case "sampling/createMessage":
		return c.Sampling != nil
	case "roots/list":
		return c.Roots != nil
	}
	return false
}

// normalizeCapabilities reduces the client's capabilities to the known ones, in one form: it is part of the
// session key. Empty: none.
func normalizeCapabilities(capabilities json.RawMessage) string {
	caps := parseCapabilities(capabilities)
	members := ""
	add := func(member string) {
		if members != "" {
			members += ","
		}
		members += member
	}
	switch {
	case caps.canOpenURLs() && caps.canFillForms():
		add(`"elicitation":{"form":{},"url":{}}`)
	case caps.canOpenURLs():
		add(`"elicitation":{"url":{}}`)
	case caps.canFillForms():
		add(`"elicitation":{"form":{}}`)
	}
	if caps.Sampling != nil {
		add(`"sampling":{}`)
	}
	if caps.Roots != nil {
		add(`"roots":{}`)
	}
	if members == "" {
		return ""
	}
	return "{" + members + "}"
}
