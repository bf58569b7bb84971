package clientconfig

import (
	"net/url"
	"strings"

	"patchbay/internal/connectors"
)

// transports maps clients' names to transports. Their http is Streamable HTTP; Patchbay's http transport, for
// servers without streams, is written as transport beside a type (see [Write]).
var transports = map[string]connectors.Transport{
	"http": connectors.TransportStreamableHTTP, "streamablehttp": connectors.TransportStreamableHTTP, "remote": connectors.TransportStreamableHTTP,
	"sse": connectors.TransportSSE, "stdio": connectors.TransportStdio, "local": connectors.TransportStdio,
}

func findTransport(word string) (connectors.Transport, bool) {
	t, ok := transports[strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(word))]
	return t, ok
}

func (r *serverReader) readURL(location string, n node) {
	s, ok := n.stringValue()
	if !ok {
		r.addProblem(location, "Must be a string.")
		return
	}
	r.urls[location] = strings.TrimSpace(expandDefaults(s))
}

// readAddress sets the transport and address: as stated, else by whether there is a URL or a command.
func (r *serverReader) readAddress() {
	for _, name := range []string{"base_url", "server_url", "baseUrl", "url", "serverUrl", "httpUrl"} { // Gemini prefers the last
		if r.urls[name] != "" {
			r.URL = r.urls[name]
		}
	}
	transport, known := r.statedTransport()
	r.joinEndpoint(transport)
	switch {
	case !known:
		return
	case transport == connectors.TransportStdio, transport == "" && r.command != "" && r.URL == "":
		r.readStdio()
		return
	case transport == "" && r.command != "":
		r.addProblem("type", "Has both url and command. Set type to http, sse or stdio.")
		return
	case r.URL == "":
		r.addProblem("url", "Add a url or command.")
		return
	case transport == "":
		transport = connectors.TransportStreamableHTTP
	}
	if called, ok := parsePlaceholder(r.URL); ok {
		r.addProblem("url", "Replace "+called+" with the address.")
		return
	}
	url := r.URL
	r.addSetting(func(d *connectors.Draft) { d.Transport, d.URL = transport, url })
	if name := secretParameter(url); name != "" {
		r.addNotice("Its URL parameter " + name + " looks like a secret, and everyone here can read URLs. If the server takes a header, use that as authentication instead.")
	}
}

// statedTransport returns what type and transport state; empty: nothing.
func (r *serverReader) statedTransport() (t connectors.Transport, known bool) {
	for _, said := range []struct{ at, word string }{{"type", r.kind}, {"transport", r.transport}} {
		if said.word == "" {
			continue
		}
		one, ok := findTransport(said.word)
		switch {
		case !ok:
			r.addProblem(said.at, "Must be http, sse or stdio.")
			return "", false
		case said.at == "transport" && t != "" && connectors.Transport(said.word) == connectors.TransportHTTP:
			t = connectors.TransportHTTP
		default:
			t = one
		}
	}
	return t, true
}

// joinEndpoint puts the endpoint in place of the URL's path. ruby-mcp-client calls a base_url without a path at /rpc, unless
// it speaks HTTP+SSE.
func (r *serverReader) joinEndpoint(transport connectors.Transport) {
	endpoint := r.endpoint
	base, err := url.Parse(r.URL)
	if err != nil || r.URL == "" {
		return // refused as an address
	}
	if endpoint == "" && r.URL == r.urls["base_url"] && strings.Trim(base.Path, "/") == "" && transport != connectors.TransportSSE {
		endpoint = "/rpc"
		r.addNotice("Without a base_url path or endpoint, /rpc is used, as in ruby-mcp-client.")
	}
	if endpoint == "" {
		return
	}
	path, err := url.Parse(endpoint)
	if err != nil || path.IsAbs() || path.Host != "" {
		r.addProblem("endpoint", "Must be a path like /mcp.")
		return
	}
	if !strings.HasPrefix(path.Path, "/") {
		path.Path, path.RawPath = "/"+path.Path, ""
	}
	r.URL = base.ResolveReference(path).String()
}
