package serve

import (
	"fmt"
	"net/http"
	"strings"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// modern answers a message of the era without handshakes.
func (x *exchange) modern(kind kind, m *wire.Incoming) {
	x.peer.Modern = true
	switch kind {
	case response:
		x.refuse(invalid("Answers to requests of ours travel with the request that is sent again."))
		return
	case notification:
		x.modernNotification(m)
		return
	}
	if failure := x.declared(m); failure != nil {
		x.refuse(failure)
		return
	}
	if failure := x.mirrored(m); failure != nil {
		x.refuse(failure)
		return
	}
	switch x.Method {
	case "server/discover":
		x.discover()
	case "subscriptions/listen":
		x.subscribe(m)
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		x.refuse(MethodNotFound(x.Method))
	default:
		x.serve(m)
	}
}

// modernNotification takes one: this era has none over HTTP, but extensions may.
func (x *exchange) modernNotification(m *wire.Incoming) {
	version, _ := wire.Unquote(m.Version)
	if header := x.r.Header.Get(revision.HeaderVersion); m.Version == nil || header != "" && header != version {
		version = header
	}
	if !revision.Modern.Knows(version) {
		x.refuse(unsupportedVersion(version))
		return
	}
	x.peer.Version = version
	if x.Method != "notifications/cancelled" { // the end of the connection says that
		x.backend.Notified(x.r.Context(), &x.peer, x.Method, m.Params)
	}
	x.w.WriteHeader(http.StatusAccepted)
}

// declared reads what the request says of itself (2026-07-28, "Per-request protocol fields").
func (x *exchange) declared(m *wire.Incoming) *RPCError {
	header, once := single(x.r.Header, revision.HeaderVersion)
	version, isText := wire.Unquote(m.Version)
	switch {
	case !once:
		return HeaderMismatch("The header MCP-Protocol-Version stands there more than once.")
	case m.Version == nil && header != "" && !revision.Modern.Knows(header):
		return unsupportedVersion(header)
	case !isText:
		return missing(revision.MetaVersion)
	case header == "":
		return HeaderMismatch("The header MCP-Protocol-Version is missing.")
	case header != version:
		return HeaderMismatch(fmt.Sprintf("The header MCP-Protocol-Version is %q, and the request says %q.", shown(header), shown(version)))
	case !revision.Modern.Knows(version):
		return unsupportedVersion(version)
	case !isObject(m.Capabilities):
		return missing(revision.MetaCapabilities)
	}
	x.peer.Version, x.peer.Capabilities = version, m.Capabilities
	if isObject(m.Client) {
		x.peer.ClientInfo = m.Client
	}
	if m.LogLevel == nil {
		x.level = levelOff
		return nil
	}
	name, _ := wire.Unquote(m.LogLevel)
	if x.level = levelOf(name); x.level == 0 {
		return refusal(http.StatusBadRequest, revision.CodeInvalidParams, "There is no such log level.")
	}
	return nil
}

func missing(name string) *RPCError {
	return refusal(http.StatusBadRequest, revision.CodeInvalidParams, fmt.Sprintf("The request's _meta must have %q.", name))
}

// mirrored compares the headers that repeat the body (2026-07-28, "Server Validation").
func (x *exchange) mirrored(m *wire.Incoming) *RPCError {
	switch method, once := single(x.r.Header, revision.HeaderMethod); {
	case !once:
		return HeaderMismatch("The header Mcp-Method stands there more than once.")
	case method == "":
		return HeaderMismatch("The header Mcp-Method is missing.")
	case method != x.Method:
		return HeaderMismatch(fmt.Sprintf("The header Mcp-Method is %q, and the request says %q.", shown(method), shown(x.Method)))
	}
	if failure := x.named(m); failure != nil {
		return failure
	}
	return x.nameMirrored()
}

// nameMirrored compares the header that names what the request is about. A name that is sent as it is, in UTF-8, is understood, too:
// some clients do not encode it.
func (x *exchange) nameMirrored() *RPCError {
	header, once := single(x.r.Header, revision.HeaderName)
	name, readable := wire.HeaderText(header)
	switch {
	case !once:
		return HeaderMismatch("The header Mcp-Name stands there more than once.")
	case header == "" && x.Name != "" && mustName[x.Method]:
		return HeaderMismatch("The header Mcp-Name is missing.")
	case header == "" || !hasName(x.Method):
		return nil
	case !readable && header != x.Name:
		return HeaderMismatch("The header Mcp-Name is not encoded as it says.")
	case readable && name != x.Name:
		return HeaderMismatch(fmt.Sprintf("The header Mcp-Name is %q, and the request says %q.", shown(name), shown(x.Name)))
	}
	return nil
}

// mustName are the methods whose requests must say in a header what they are about.
var mustName = map[string]bool{
	"tools/call": true, "prompts/get": true, "resources/read": true, "tasks/get": true, "tasks/update": true, "tasks/cancel": true,
}

// single is a header that must not stand there twice: different readers would take different ones.
func single(h http.Header, name string) (value string, once bool) {
	values := h[name]
	if len(values) == 0 {
		return "", true
	}
	return values[0], len(values) == 1
}

// named reads the name of what the request is about.
func (x *exchange) named(m *wire.Incoming) *RPCError {
	raw := nameOf(x.Method, m)
	if raw == nil {
		return nil
	}
	var ok bool
	if x.Name, ok = wire.Unquote(raw); !ok {
		return InvalidParams("The name must be a string.")
	}
	return nil
}

func hasName(method string) bool { return nameOf(method, &everything) != nil }

var everything = wire.Incoming{Name: []byte(`""`), URI: []byte(`""`), TaskID: []byte(`""`)}

func nameOf(method string, m *wire.Incoming) []byte {
	switch method {
	case "tools/call", "prompts/get":
		return m.Name
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return m.URI
	}
	if strings.HasPrefix(method, "tasks/") {
		return m.TaskID
	}
	return nil
}
