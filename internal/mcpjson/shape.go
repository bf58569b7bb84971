package mcpjson

import (
	"bytes"
	"slices"

	"patchbay/internal/fault"
)

// envelopes are the names under which clients keep their servers, in the order in which they are looked for.
var envelopes = []string{"mcpServers", "servers", "mcp_servers"}

// marks are fields that only a server has.
var marks = []string{"command", "url", "serverUrl", "httpUrl"}

// servers finds the servers of a document in any of its shapes.
func servers(root node) ([]member, error) {
	if settings, ok := root.fields()["mcp"]; ok && settings.is('{') && !isServer(settings) {
		root = settings // VS Code's settings.json
	}
	switch {
	case root.is('['):
		return root.members(), nil
	case !root.is('{'):
		return nil, fault.Errorf(fault.Invalid, "The document is no object. Give it an mcpServers object, an array of servers, or one server.")
	}
	fields := root.fields()
	for _, name := range envelopes {
		inside, ok := fields[name]
		switch {
		case !ok:
		case inside.is('{') && isServer(inside):
			// A server that is called as an envelope is.
		case inside.is('{'), inside.is('['):
			return inside.members(), nil
		default:
			return nil, fault.Errorf(fault.Invalid, "%s must be an object of servers by their names, or an array.", name)
		}
	}
	if isServer(root) || isListed(root) {
		return []member{{at: root.at, node: root}}, nil
	}
	all := root.members()
	if slices.ContainsFunc(all, func(m member) bool { return isServer(m.node) }) {
		return slices.DeleteFunc(all, func(m member) bool { return !m.is('{') }), nil // "$schema", "inputs" and their kin
	}
	if len(all) == 0 {
		return nil, nil
	}
	return nil, fault.Errorf(fault.Invalid, "No MCP server is described here: there is no mcpServers object, and nothing has a url or a command.")
}

func isServer(n node) bool {
	if !n.is('{') {
		return false
	}
	fields := n.fields()
	return slices.ContainsFunc(marks, func(mark string) bool {
		value, ok := fields[mark]
		return ok && !value.is('{')
	})
}

// whole is the one value of a document.
func (s source) whole() node {
	return node{raw: bytes.Trim(s.text, space), at: len(s.text) - len(bytes.TrimLeft(s.text, space))}
}
