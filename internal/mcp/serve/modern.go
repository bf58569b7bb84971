package serve

import (
	"fmt"
	"net/http"
	"strings"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

func (x *exchange) serveModern(kind messageKind, m *wire.Incoming) {
	x.peer.Modern = true
	switch kind {
	case responseKind:
		x.sendError(invalidRequest("Responses to server requests belong in the repeated request."))
		return
	case notificationKind:
		x.handleModernNotification(m)
		return
	}
	if failure := x.readRequestMeta(m); failure != nil {
		x.sendError(failure)
		return
	}
	if failure := x.checkMirroredHeaders(m); failure != nil {
		x.sendError(failure)
		return
	}
	switch x.Method {
	case "server/discover":
		x.serveDiscover()
	case "subscriptions/listen":
		x.serveListen(m)
	case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		x.sendError(MethodNotFound(x.Method))
	default:
		x.serveRequest(m)
	}
}

// handleModernNotification handles a notification. The era defines none over HTTP, but extensions may.
func (x *exchange) handleModernNotification(m *wire.Incoming) {
	version, _ := wire.Unquote(m.Version)
	if header := x.r.Header.Get(revision.HeaderVersion); m.Version == nil || header != "" && header != version {
		version = header
	}
	if !revision.Modern.Supports(version) {
		x.sendError(unsupportedVersion(version))
		return
	}
	x.peer.Version = version
	if x.Method != "notifications/cancelled" { // a closed connection cancels
		x.backend.HandleNotification(x.r.Context(), &x.peer, x.Method, m.Params)
	}
	x.w.WriteHeader(http.StatusAccepted)
}

// readRequestMeta reads the per-request fields of _meta (2026-07-28, "Per-request protocol fields").
func (x *exchange) readRequestMeta(m *wire.Incoming) *RPCError {
	header, once := singleHeader(x.r.Header, revision.HeaderVersion)
	version, isText := wire.Unquote(m.Version)
	switch {
	case !once:
		return HeaderMismatch("Duplicate MCP-Protocol-Version header.")
	case m.Version == nil && header != "" && !revision.Modern.Supports(header):
		return unsupportedVersion(header)
	case !isText:
		return missingMeta(revision.MetaVersion)
	case header == "":
		return HeaderMismatch("The header MCP-Protocol-Version is missing.")
	case header != version:
		return HeaderMismatch(fmt.Sprintf("The header MCP-Protocol-Version is %q, but the request has %q.", truncateText(header), truncateText(version)))
	case !revision.Modern.Supports(version):
		return unsupportedVersion(version)
	case !isObject(m.Capabilities):
		return missingMeta(revision.MetaCapabilities)
	}
	x.peer.Version, x.peer.Capabilities = version, m.Capabilities
	if isObject(m.Client) {
		x.peer.ClientInfo = m.Client
	}
	if m.LogLevel == nil {
		x.minLevel = levelOff
		return nil
	}
	name, _ := wire.Unquote(m.LogLevel)
	if x.minLevel = parseLevel(name); x.minLevel == 0 {
		return newStatusError(http.StatusBadRequest, revision.CodeInvalidParams, "No such log level.")
	}
	return nil
}

func missingMeta(name string) *RPCError {
	return newStatusError(http.StatusBadRequest, revision.CodeInvalidParams, fmt.Sprintf("The request's _meta must have %q.", name))
}

// checkMirroredHeaders compares the headers that mirror the body (2026-07-28, "Server Validation").
func (x *exchange) checkMirroredHeaders(m *wire.Incoming) *RPCError {
	switch method, once := singleHeader(x.r.Header, revision.HeaderMethod); {
	case !once:
		return HeaderMismatch("Duplicate Mcp-Method header.")
	case method == "":
		return HeaderMismatch("The header Mcp-Method is missing.")
	case method != x.Method:
		return HeaderMismatch(fmt.Sprintf("The header Mcp-Method is %q, but the request has %q.", truncateText(method), truncateText(x.Method)))
	}
	if failure := x.readName(m); failure != nil {
		return failure
	}
	return x.checkNameHeader()
}

// checkNameHeader compares Mcp-Name with the body. Plain UTF-8 is accepted too: some clients do not encode it.
func (x *exchange) checkNameHeader() *RPCError {
	header, once := singleHeader(x.r.Header, revision.HeaderName)
	name, readable := wire.HeaderText(header)
	switch {
	case !once:
		return HeaderMismatch("Duplicate Mcp-Name header.")
	case header == "" && x.Name != "" && nameHeaderRequired[x.Method]:
		return HeaderMismatch("The header Mcp-Name is missing.")
	case header == "" || !hasName(x.Method):
		return nil
	case !readable && header != x.Name:
		return HeaderMismatch("The header Mcp-Name is not encoded correctly.")
	case readable && name != x.Name:
		return HeaderMismatch(fmt.Sprintf("The header Mcp-Name is %q, but the request has %q.", truncateText(name), truncateText(x.Name)))
	}
	return nil
}

var nameHeaderRequired = map[string]bool{
	"tools/call": true, "prompts/get": true, "resources/read": true, "tasks/get": true, "tasks/update": true, "tasks/cancel": true,
}

// singleHeader returns a header that must not be repeated: readers differ in which value they take.
func singleHeader(h http.Header, name string) (value string, once bool) {
	values := h[name]
	if len(values) == 0 {
		return "", true
	}
	return values[0], len(values) == 1
}

// readName reads the name, URI or task id of the request's target.
func (x *exchange) readName(m *wire.Incoming) *RPCError {
	raw := rawName(x.Method, m)
	if raw == nil {
		return nil
	}
	var ok bool
	if x.Name, ok = wire.Unquote(raw); !ok {
		return InvalidParams("The name must be a string.")
	}
	return nil
}

func hasName(method string) bool { return rawName(method, &allNames) != nil }

var allNames = wire.Incoming{Name: []byte(`""`), URI: []byte(`""`), TaskID: []byte(`""`)}

func rawName(method string, m *wire.Incoming) []byte {
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
