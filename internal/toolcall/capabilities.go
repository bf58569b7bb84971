package toolcall

import (
	"bytes"
	"encoding/json"
	"errors"

	"patchbay/internal/mcp"
)

// clientCapabilities are the server requests that a client declares to answer, and its extensions.
type clientCapabilities struct {
	Elicitation *struct{ Form, URL *struct{} } `json:"elicitation"`
	Sampling    *struct{}                      `json:"sampling"`
	Roots       *struct{}                      `json:"roots"`

	extensions map[string]json.RawMessage
}

func parseCapabilities(capabilities json.RawMessage) (caps clientCapabilities) {
	if len(capabilities) < len(`{"roots":{}}`) || json.Unmarshal(capabilities, &caps) != nil {
		return clientCapabilities{}
	}
	caps.extensions = parseExtensions(capabilities).extensions
	return caps
}

// parseExtensions returns the capabilities of a client that answers no server requests.
func parseExtensions(capabilities json.RawMessage) (caps clientCapabilities) {
	if bytes.Contains(capabilities, []byte(`"extensions"`)) {
		caps.extensions = mcp.Extensions(capabilities, mcp.MaxClientExtensions)
	}
	return caps
}

// answersRequests reports whether the client answers any server request.
func (c clientCapabilities) answersRequests() bool {
	return c.Elicitation != nil || c.Sampling != nil || c.Roots != nil
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

// normalizeCapabilities reduces the client's capabilities to the known ones and its extensions, in one form: it is part of the
// session key. Empty: none.
func normalizeCapabilities(capabilities json.RawMessage) string {
	return parseCapabilities(capabilities).encodeMembers()
}

func (c clientCapabilities) encodeMembers() string {
	members := ""
	add := func(member string) {
		if members != "" {
			members += ","
		}
		members += member
	}
	switch {
	case c.canOpenURLs() && c.canFillForms():
		add(`"elicitation":{"form":{},"url":{}}`)
	case c.canOpenURLs():
		add(`"elicitation":{"url":{}}`)
	case c.canFillForms():
		add(`"elicitation":{"form":{}}`)
	}
	if c.Sampling != nil {
		add(`"sampling":{}`)
	}
	if c.Roots != nil {
		add(`"roots":{}`)
	}
	if len(c.extensions) > 0 {
		add(`"extensions":` + string(mcp.EncodeExtensions(c.extensions)))
	}
	if members == "" {
		return ""
	}
	return "{" + members + "}"
}
