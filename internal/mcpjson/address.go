package mcpjson

import (
	"strings"

	"patchbay/internal/connectors"
)

// transports are the ways to reach a server, as clients write them. Their http is Streamable HTTP; ours, which is for servers
// that never stream, stands as transport beside a type, where [Write] puts it.
var transports = map[string]connectors.Transport{
	"http": connectors.TransportStreamableHTTP, "streamablehttp": connectors.TransportStreamableHTTP, "remote": connectors.TransportStreamableHTTP,
	"sse": connectors.TransportSSE, "stdio": connectors.TransportStdio, "local": connectors.TransportStdio,
}

func transportOf(word string) (connectors.Transport, bool) {
	t, ok := transports[strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(word))]
	return t, ok
}

func (r *reading) readURL(at string, n node) {
	s, ok := n.text()
	if !ok {
		r.refuse(at, "This must be a text.")
		return
	}
	r.urls[at] = strings.TrimSpace(withDefaults(s))
}

// readAddress decides how the server is reached: by what the entry says, else by whether it has a URL or a command.
func (r *reading) readAddress() {
	for _, name := range []string{"url", "serverUrl", "httpUrl"} { // Gemini prefers the last
		if r.urls[name] != "" {
			r.URL = r.urls[name]
		}
	}
	transport, known := r.saidTransport()
	switch {
	case !known:
		return
	case transport == connectors.TransportStdio, transport == "" && r.command != "" && r.URL == "":
		r.readStdio()
		return
	case transport == "" && r.command != "":
		r.refuse("type", "This has a url and a command. Say by the type which of them counts: http, sse or stdio.")
		return
	case r.URL == "":
		r.refuse("url", "A url or a command is needed.")
		return
	case transport == "":
		transport = connectors.TransportStreamableHTTP
	}
	if called, ok := placeholder(r.URL); ok {
		r.refuse("url", "The address is not there: "+called+" stands in it. Put the address in its place.")
		return
	}
	url := r.URL
	r.set(func(d *connectors.Draft) { d.Transport, d.URL = transport, url })
	if name := secretParameter(url); name != "" {
		r.note("The parameter " + name + " of its URL looks like a secret, and everyone here can read a URL. If the server takes a header as well, set that as authentication instead.")
	}
}

// saidTransport is what type and transport say; empty where they say nothing.
func (r *reading) saidTransport() (t connectors.Transport, known bool) {
	for _, said := range []struct{ at, word string }{{"type", r.kind}, {"transport", r.transport}} {
		if said.word == "" {
			continue
		}
		one, ok := transportOf(said.word)
		switch {
		case !ok:
			r.refuse(said.at, "This must be one of http, sse, stdio.")
			return "", false
		case said.at == "transport" && t != "" && connectors.Transport(said.word) == connectors.TransportHTTP:
			t = connectors.TransportHTTP
		default:
			t = one
		}
	}
	return t, true
}
