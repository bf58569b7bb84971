package connectors

import (
	"slices"
	"strings"
)

// Bounds of the methods that a connector allows.
const (
	MaxMethods      = 50
	MaxMethodLength = 100 // bytes of one name
)

// IsNotification reports whether a method is that of a notification by its name. Others may be sent as one, too.
func IsNotification(method string) bool { return strings.HasPrefix(method, "notifications/") }

// Methods that MCP defines, by their first segment, and notifications, by the segment after "notifications". Patchbay
// serves them itself.
var (
	protocolMethods = []string{
		"initialize", "ping", "tools", "prompts", "resources", "completion", "logging", "tasks", "subscriptions", "server", "roots", "sampling",
		"elicitation", "skills",
	}
	protocolNotifications = append([]string{"initialized", "cancelled", "progress", "message"}, protocolMethods...)
)

// AllowsMethod reports whether the connector relays a method that MCP does not define. The settings name it, or a prefix
// of whole segments, as acme/*.
func (s Settings) AllowsMethod(method string) bool {
	if len(s.Methods) == 0 || !isMethodName(method) || isProtocolMethod(method) {
		return false
	}
	return slices.ContainsFunc(s.Methods, func(allowed string) bool {
		prefix, isPattern := strings.CutSuffix(allowed, "*")
		return allowed == method || isPattern && len(method) > len(prefix) && strings.HasPrefix(method, prefix)
	})
}

// isMethodName reports whether name is visible ASCII of at most MaxMethodLength bytes. Mcp-Method repeats it.
func isMethodName(name string) bool {
	return name != "" && len(name) <= MaxMethodLength && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// isProtocolMethod reports whether MCP defines the method, or may in a later revision. Case does not count: a server may
// ignore it.
func isProtocolMethod(method string) bool {
	segments := strings.Split(strings.ToLower(method), "/")
	if segments[0] == "notifications" {
		return len(segments) < 2 || slices.Contains(protocolNotifications, segments[1])
	}
	return slices.Contains(protocolMethods, segments[0])
}

func (c *validation) checkMethods(methods []string) {
	if len(methods) > MaxMethods {
		c.addField("methods", "At most %d methods.", MaxMethods)
		return
	}
	for _, method := range methods {
		name, isPattern := strings.CutSuffix(method, "/*")
		switch {
		case isMethodName(method) && isProtocolMethod(method):
			c.addField("methods", "Patchbay serves %q itself.", method)
		case !isMethodName(method), name == "" || strings.HasPrefix(name, "/"), strings.Contains(name, "*"), isPattern && strings.EqualFold(name, "notifications"):
			c.addField("methods", "Use 1–%d visible ASCII characters, like acme/search or the prefix acme/*.", MaxMethodLength)
		}
	}
}
