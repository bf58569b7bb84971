package clientconfig

import (
	"bytes"
	"slices"

	"patchbay/internal/fault"
)

// envelopes are the clients' names for the object of servers, in order of preference.
var envelopes = []string{"mcpServers", "servers", "mcp_servers", "context_servers", "amp.mcpServers"}

// serverFields are fields that only a server has.
var serverFields = []string{"command", "url", "serverUrl", "httpUrl", "server_url", "base_url", "baseUrl"}

func findServers(root node) ([]namedNode, error) {
	switch {
	case root.isKind('['):
		return root.members(), nil
	case !root.isKind('{'):
		return nil, fault.Errorf(fault.Invalid, "Use an mcpServers object, an array of servers, or one server.")
	}
	fields := root.fields()
	found, err := findEnvelope(fields)
	if found != nil || err != nil {
		return append(found, serversOfProjects(fields["projects"])...), err
	}
	if all := serversOfProjects(fields["projects"]); len(all) > 0 {
		return all, nil
	}
	if settings, ok := fields["mcp"]; ok && settings.isKind('{') && !isServer(settings) { // VS Code's settings.json, OpenCode
		root, fields = settings, settings.fields()
		if found, err = findEnvelope(fields); found != nil || err != nil {
			return found, err
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
	return nil, fault.Errorf(fault.Invalid, "No MCP server found: no mcpServers object, url or command.")
}

// findEnvelope returns the servers of the first envelope; nil: there is none.
func findEnvelope(fields map[string]node) ([]namedNode, error) {
	for _, name := range envelopes {
		inside, ok := fields[name]
		switch {
		case !ok:
		case inside.isKind('{') && isServer(inside):
			// A server with an envelope's name.
		case inside.isKind('{'), inside.isKind('['):
			return append([]namedNode{}, inside.members()...), nil
		default:
			return nil, fault.Errorf(fault.Invalid, "%s must be an array, or an object of servers.", name)
		}
	}
	return nil, nil
}

// serversOfProjects returns the servers of Claude Code's projects, which its user file has by their folders.
func serversOfProjects(projects node) []namedNode {
	if !projects.isKind('{') {
		return nil
	}
	var all []namedNode
	for _, project := range projects.members() {
		all = append(all, project.fields()["mcpServers"].members()...)
	}
	return all
}

// excludedByGemini tells which servers the settings of Gemini CLI exclude beside mcpServers.
func excludedByGemini(root node) func(name string) bool {
	fields := root.fields()
	if _, ok := fields["mcpServers"]; !ok {
		return func(string) bool { return false }
	}
	settings := fields["mcp"].fields()
	allowed, hasAllowed := settings["allowed"].stringList()
	excluded, _ := settings["excluded"].stringList()
	return func(name string) bool {
		return slices.Contains(excluded, name) || hasAllowed && !slices.Contains(allowed, name)
	}
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
