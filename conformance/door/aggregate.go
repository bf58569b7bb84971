package main

import (
	"encoding/json"
	"net/http"
	"strings"
)

// exposedNames maps the names in requests to those of one connector at the address of all connectors. Clients take such names
// from lists, but the suite has fixed ones. Lists, results and notifications stay as they are.
type exposedNames struct {
	slug string
}

// nameFor returns the exposed name of a tool or prompt.
func (n exposedNames) nameFor(own string) string {
	if own == "" || strings.HasPrefix(own, "mcp_") {
		return own
	}
	return "mcp_" + n.slug + "__" + own
}

// missingResource begins the URI of a resource that no server has. The suite looks for it in the error.
const missingResource = "test://nonexistent"

// uriFor returns the exposed URI of a resource or template. Those of skills are from lists.
func (n exposedNames) uriFor(own string) string {
	if own == "" || strings.HasPrefix(own, "patchbay+") || strings.HasPrefix(own, "skill://") || strings.HasPrefix(own, missingResource) {
		return own
	}
	return "patchbay+" + n.slug + ":" + own
}

// namingMembers are the members of params that name a tool, prompt or resource, by method.
var namingMembers = map[string]string{
	"tools/call": "name", "prompts/get": "name", "resources/read": "uri", "resources/subscribe": "uri", "resources/unsubscribe": "uri",
}

// exposeRequest returns a request's body with exposed names. Other messages stay as they are. The header Mcp-Name has the
// same name as the body.
func (n exposedNames) exposeRequest(body []byte, header http.Header) []byte {
	var message map[string]json.RawMessage
	var method string
	var params map[string]json.RawMessage
	if json.Unmarshal(body, &message) != nil || json.Unmarshal(message["method"], &method) != nil || json.Unmarshal(message["params"], &params) != nil {
		return body
	}
	member, isNamed := namingMembers[method]
	switch {
	case isNamed:
		n.exposeMember(params, member)
	case method == "completion/complete":
		var ref map[string]json.RawMessage
		if json.Unmarshal(params["ref"], &ref) != nil {
			return body
		}
		n.exposeMember(ref, "name")
		n.exposeMember(ref, "uri")
		params["ref"] = mustEncode(ref)
	default:
		return body
	}
	message["params"] = mustEncode(params)
	if name := header.Get("Mcp-Name"); name != "" && member == "name" {
		header.Set("Mcp-Name", n.nameFor(name))
	} else if name != "" && member == "uri" {
		header.Set("Mcp-Name", n.uriFor(name))
	}
	return mustEncode(message)
}

// exposeMember replaces the string at a member, if there is one.
func (n exposedNames) exposeMember(of map[string]json.RawMessage, member string) {
	var own string
	if json.Unmarshal(of[member], &own) != nil {
		return
	}
	if member == "uri" {
		of[member] = mustEncode(n.uriFor(own))
	} else {
		of[member] = mustEncode(n.nameFor(own))
	}
}

// mustEncode encodes strings and JSON that has been decoded, which cannot fail.
func mustEncode(value any) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return raw
}
