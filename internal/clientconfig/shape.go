package clientconfig

import (
	"bytes"
	"slices"

	"patchbay/internal/fault"
)

// envelopes are the clients' names for the object of servers, in order of preference.
var envelopes = []string{"mcpServers", "servers", "mcp_servers"}

// serverFields are fields that only a server has.
var serverFields = []string{"command", "url", "serverUrl", "httpUrl", "server_url", "base_url"}

func findServers(root node) ([]namedNode, error) {
	if settings, ok := root.fields()["mcp"]; ok && settings.isKind('{') && !isServer(settings) {
		root = settings // VS Code's settings.json
	}
	switch {
	case root.isKind('['):
		return root.members(), nil
	case !root.isKind('{'):
		return nil, fault.Errorf(fault.Invalid, "The document is no object. Give it an mcpServers object, an array of servers, or one server.")
	}
	fields := root.fields()
	for _, name := range envelopes {
		inside, ok := fields[name]
		switch {
		case !ok:
		case inside.isKind('{') && isServer(inside):
			// A server with an envelope's name.
		case inside.isKind('{'), inside.isKind('['):
			return inside.members(), nil
		default:
			return nil, fault.Errorf(fault.Invalid, "%s must be an object of servers by their names, or an array.", name)
		}
	}
	if isServer(root) || isListed(root) {
		return []namedNode{{offset: root.offset, node: root}}, nil
	}
	all := root.members()
	if slices.ContainsFunc(all, func(m namedNode) bool { return isServer(m.node) }) {
		return slices.DeleteFunc(all, func(m namedNode) bool { return !m.isKind('{') }), nil // such as "$schema" and "inputs"
	}
	if len(all) == 0 {
		return nil, nil
	}
	return nil, fault.Errorf(fault.Invalid, "No MCP server is described here: there is no mcpServers object, and nothing has a url or a command.")
}

func isServer(n node) bool {
	if !n.isKind('{') {
		return false
	}
	fields := n.fields()
	return slices.ContainsFunc(serverFields, func(mark string) bool {
		value, ok := fields[mark]
		return ok && !value.isKind('{')
	})
}

func (s source) root() node {
	return node{raw: bytes.Trim(s.text, whitespace), offset: len(s.text) - len(bytes.TrimLeft(s.text, whitespace))}
}
