package shell

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// CallPath is the address of a call.
func CallPath(id connectors.ToolCallID) string { return "/calls/" + id.String() }

// ApprovalPath is the address of an approval.
func ApprovalPath(id connectors.ToolCallID) string { return "/approvals/" + id.String() }

// ConnectorPath is the address of a connector.
func ConnectorPath(slug string) string { return "/connectors/" + url.PathEscape(slug) }

// CredentialsPath is the tab where a connector's accounts are connected.
func CredentialsPath(connector string) string { return ConnectorPath(connector) + "/credentials" }

// AccountPath is the row of an agent's account, or of the shared one if agent is empty.
func AccountPath(connector, agent, name string) string {
	path := CredentialsPath(connector) + "#credential-" + cmp.Or(agent, "shared")
	if connectors.GivenName(name) != "" {
		path += "." + name
	}
	return path
}

// AskAccessPath is the form of a request for access, filled in from agent, connector and tool of the query.
func AskAccessPath(query url.Values) string { return WithQuery(connectors.AskAccessPath, query) }

// AgentPath is the address of an agent.
func AgentPath(slug string) string { return "/agents/" + url.PathEscape(slug) }

// ToolPath is the address of a tool.
func ToolPath(connector, tool string) string {
	return ConnectorPath(connector) + "/tools/" + url.PathEscape(tool)
}

// ReviewedPath is the parent path of a tool's changes, or of those of the server's instructions.
func ReviewedPath(connector, tool string) string {
	if tool == connectors.InstructionsTool {
		return ConnectorPath(connector) + "/instructions"
	}
	return ToolPath(connector, tool)
}

// ChangeHref is the address of a change of a tool, or of the server's instructions.
func ChangeHref(connector, tool string, id connectors.ToolChangeID) string {
	path := ReviewedPath(connector, tool) + "/changes"
	if tool == connectors.InstructionsTool {
		return WithQuery(path, url.Values{"change": {id.String()}})
	}
	return path + "/" + id.String()
}

// PathRef is the connector or agent in the path.
func PathRef(r *http.Request, param string) connectors.Ref {
	return connectors.Ref(PathValue(r, param))
}

// TokenID is the id of an agent token in the path.
func TokenID(r *http.Request) (connectors.AgentTokenID, error) {
	id, ok := PathRef(r, "token").UUID()
	if !ok {
		return connectors.AgentTokenID{}, fault.Errorf(fault.NotFound, "No such token.")
	}
	return connectors.AgentTokenID{UUID: id}, nil
}

// CallID is the id of a call or approval in the path.
func CallID(r *http.Request) (connectors.ToolCallID, error) {
	id, ok := PathRef(r, "id").UUID()
	if !ok {
		return connectors.ToolCallID{}, fault.Errorf(fault.NotFound, "No such call.")
	}
	return connectors.ToolCallID{UUID: id}, nil
}

// PathValue is a decoded path parameter. If a part holds an encoded slash, as a tool's name may, chi routes by
// the encoded path and does not decode it.
func PathValue(r *http.Request, param string) string {
	value := chi.URLParam(r, param)
	if r.URL.RawPath == "" {
		return value
	}
	decoded, err := url.PathUnescape(value)
	if err != nil {
		return value
	}
	return decoded
}

// WithQuery returns the path with a query, if there is any.
func WithQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}
