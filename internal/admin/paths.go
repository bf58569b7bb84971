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

// accountPath is the row of an agent's account; agent empty: of the shared one.
func accountPath(connector, agent string) string {
	return credentialsPath(connector) + "#credential-" + cmp.Or(agent, "shared")
}

func agentPath(slug string) string { return "/agents/" + url.PathEscape(slug) }

func toolPath(connector, tool string) string {
	return connectorPath(connector) + "/tools/" + url.PathEscape(tool)
}

// reviewedPath is below what the changes of a tool are, or those of the server's instructions.
func reviewedPath(connector, tool string) string {
	if tool == connectors.OfInstructions {
		return connectorPath(connector) + "/instructions"
	}
	return toolPath(connector, tool)
}

// changeHref is one change of a tool, or of the server's instructions.
func changeHref(connector, tool string, id connectors.ToolChangeID) string {
	path := reviewedPath(connector, tool) + "/changes"
	if tool == connectors.OfInstructions {
		return withQuery(path, url.Values{"change": {id.String()}})
	}
	return path + "/" + id.String()
}

// ref is a connector's or an agent's name in the path.
func ref(r *http.Request, param string) connectors.Ref { return connectors.Ref(pathValue(r, param)) }

// tokenID is an agent's token in the path.
func tokenID(r *http.Request) (connectors.AgentTokenID, error) {
	id, ok := ref(r, "token").UUID()
	if !ok {
		return connectors.AgentTokenID{}, fault.Errorf(fault.NotFound, "There is no such token.")
	}
	return connectors.AgentTokenID{UUID: id}, nil
}

// callID is a call, or what waits for a person before it is one, in the path.
func callID(r *http.Request) (connectors.ToolCallID, error) {
	id, ok := ref(r, "id").UUID()
	if !ok {
		return connectors.ToolCallID{}, fault.Errorf(fault.NotFound, "There is no such call.")
	}
	return connectors.ToolCallID{UUID: id}, nil
}

// pathValue is a decoded part of the path. chi routes by the encoded path where a part holds an encoded slash, as a
// tool's name may, and then leaves the part encoded.
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

// pager leads from one part of a list to the next, keeping the page's other parameters, and to the list as a file.
func pager(r *http.Request, next string) templates.Pager {
	var p templates.Pager
	p.CSV, p.JSON = files(r)
	query := r.URL.Query()
	if route := chi.RouteContext(r.Context()); route != nil && slices.Contains(ofAnySize, route.RoutePattern()) {
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
