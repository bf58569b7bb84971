package admin

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/web/templates"
)

func connectorPath(slug string) string { return "/connectors/" + url.PathEscape(slug) }

// credentialsPath is the tab where a connector's accounts are connected.
func credentialsPath(connector string) string { return connectorPath(connector) + "/credentials" }

// accountPath is the row of an agent's account, or of the shared one if agent is empty.
func accountPath(connector, agent string) string {
	return credentialsPath(connector) + "#credential-" + cmp.Or(agent, "shared")
}

func agentPath(slug string) string { return "/agents/" + url.PathEscape(slug) }

func toolPath(connector, tool string) string {
	return connectorPath(connector) + "/tools/" + url.PathEscape(tool)
}

// reviewedPath is the parent path of a tool's changes, or of those of the server's instructions.
func reviewedPath(connector, tool string) string {
	if tool == connectors.InstructionsTool {
		return connectorPath(connector) + "/instructions"
	}
	return toolPath(connector, tool)
}

func changeHref(connector, tool string, id connectors.ToolChangeID) string {
	path := reviewedPath(connector, tool) + "/changes"
	if tool == connectors.InstructionsTool {
		return withQuery(path, url.Values{"change": {id.String()}})
	}
	return path + "/" + id.String()
}

// pathRef is the connector or agent in the path.
func pathRef(r *http.Request, param string) connectors.Ref {
	return connectors.Ref(pathValue(r, param))
}

func tokenID(r *http.Request) (connectors.AgentTokenID, error) {
	id, ok := pathRef(r, "token").UUID()
	if !ok {
		return connectors.AgentTokenID{}, fault.Errorf(fault.NotFound, "There is no such token.")
	}
	return connectors.AgentTokenID{UUID: id}, nil
}

// callID is the id of a call or approval in the path.
func callID(r *http.Request) (connectors.ToolCallID, error) {
	id, ok := pathRef(r, "id").UUID()
	if !ok {
		return connectors.ToolCallID{}, fault.Errorf(fault.NotFound, "There is no such call.")
	}
	return connectors.ToolCallID{UUID: id}, nil
}

// pathValue is a decoded path parameter. If a part holds an encoded slash, as a tool's name may, chi routes by
// the encoded path and does not decode it.
func pathValue(r *http.Request, param string) string {
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

// newPager leads to the next part of a list, keeping the query's other parameters, and to the list as a file.
func newPager(r *http.Request, next string) templates.Pager {
	var p templates.Pager
	p.CSV, p.JSON = exportLinks(r)
	query := r.URL.Query()
	if route := chi.RouteContext(r.Context()); route != nil && slices.Contains(resizablePages, route.RoutePattern()) {
		p.Sizes = sizeLinks(r.URL.Path, query, pageSize(r), next != "" || query.Get("cursor") != "")
	}
	if query.Get("cursor") != "" {
		query.Del("cursor")
		p.First = withQuery(r.URL.Path, query)
	}
	if next != "" {
		query.Set("cursor", next)
		p.Next = withQuery(r.URL.Path, query)
	}
	return p
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}
