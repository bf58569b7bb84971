package mcpjson

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// listed is a server as an MCP registry lists it (GET /v0.1/servers, schema 2025-12-11). What is not here means nothing to a
// connector, and is not carried along.
type listed struct {
	Server listedServer          `json:"server"`
	Meta   map[string]listedMeta `json:"_meta,omitempty"`
}

type listedServer struct {
	Name        string         `json:"name"`
	Title       string         `json:"title,omitempty"`
	Description string         `json:"description,omitempty"`
	Version     string         `json:"version,omitempty"`
	Remotes     []listedRemote `json:"remotes"` // stands always, so that what is carried along is known again
}

type listedRemote struct {
	Type      string                 `json:"type"`
	URL       string                 `json:"url"`
	Headers   []listedInput          `json:"headers,omitempty"`
	Variables map[string]listedInput `json:"variables,omitempty"`
}

type listedInput struct {
	Name      string                 `json:"name,omitempty"`
	Value     string                 `json:"value,omitempty"`
	Default   string                 `json:"default,omitempty"`
	Required  bool                   `json:"isRequired,omitempty"`
	Secret    bool                   `json:"isSecret,omitempty"`
	Variables map[string]listedInput `json:"variables,omitempty"`
}

type listedMeta struct {
	Status string `json:"status,omitempty"`
	Latest *bool  `json:"isLatest,omitempty"`
}

// official is where the official registry and its likes say what they think of a version.
const official = "io.modelcontextprotocol.registry/official"

// ReadPage takes a page of a registry's list apart: its servers, each as short as an import needs it, and the cursor of the page after
// it; empty: there is none.
func ReadPage(page []byte) (servers []json.RawMessage, next string, err error) {
	var list struct {
		Servers  *[]json.RawMessage `json:"servers"`
		Metadata struct {
			Next string `json:"nextCursor"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(page, &list); err != nil || list.Servers == nil {
		return nil, "", fault.Errorf(fault.Invalid, "This is no list of an MCP registry: it has no servers.")
	}
	for _, raw := range *list.Servers {
		if short, ok := readListed(node{raw: raw}); ok && short.current() {
			servers = append(servers, short.document())
		}
	}
	return servers, list.Metadata.Next, nil
}

// isListed tells whether a value is a server in a registry's form: with its envelope, or the server.json alone.
func isListed(n node) bool {
	if !n.is('{') || isServer(n) {
		return false
	}
	fields := n.fields()
	inner, enveloped := fields["server"]
	if enveloped && !isServer(inner) {
		fields = inner.fields()
	}
	_, named := fields["name"]
	return named && (enveloped && inner.is('{') || fields["remotes"].is('[') || fields["packages"].is('['))
}

// readListed reads a server in a registry's form; ok is false where it is none, or its fields are of other types.
func readListed(n node) (listed, bool) {
	if !isListed(n) {
		return listed{}, false
	}
	var l listed
	raw := n.raw
	if _, enveloped := n.fields()["server"]; !enveloped {
		raw = slices.Concat([]byte(`{"server":`), raw, []byte("}"))
	}
	var loose struct {
		Server json.RawMessage            `json:"server"`
		Meta   map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(raw, &loose) != nil || json.Unmarshal(loose.Server, &l.Server) != nil {
		return listed{}, false
	}
	var meta listedMeta
	if json.Unmarshal(loose.Meta[official], &meta) == nil {
		l.Meta = map[string]listedMeta{official: meta}
	}
	return l, true
}

// current tells whether this is the version that counts.
func (l listed) current() bool {
	latest := l.Meta[official].Latest
	return latest == nil || *latest
}

// document is the server again, as short as an import needs it.
func (l listed) document() json.RawMessage {
	raw, err := json.Marshal(l)
	if err != nil {
		return nil // texts and flags always become JSON
	}
	return raw
}

// remote picks how the server is reached: Streamable HTTP, else HTTP+SSE.
func (l listed) remote() (listedRemote, bool) {
	for _, kind := range []string{"streamable-http", "sse"} {
		if i := slices.IndexFunc(l.Server.Remotes, func(r listedRemote) bool { return r.Type == kind }); i >= 0 {
			return l.Server.Remotes[i], true
		}
	}
	return listedRemote{}, false
}

// readListing makes an entry of a server that a registry lists. The rules are those of every entry: which header is a secret, which
// address is none.
func readListing(m member) Entry {
	l, ok := readListed(m.node)
	r := &reading{fields: m.fields(), urls: map[string]string{}, env: map[string]string{}}
	r.Listed = true
	if !ok {
		r.refuse("server", "This server is not in the form of an MCP registry.")
		r.named("server", "", "")
		return r.Entry
	}
	r.Summary, r.fields = l.Server.Description, map[string]node{}
	r.describe(l)
	if remote, ok := l.remote(); ok {
		l.Server.Remotes = []listedRemote{remote}
		r.reach(remote)
		r.readAddress()
		r.authenticate()
	} else {
		r.refuse("remotes", "It is a program to be started, and has no address. Patchbay reaches those that have one.")
	}
	r.Document = l.document()
	space, last := splitName(l.Server.Name)
	r.title = strings.TrimSpace(l.Server.Title)
	if r.title == "" {
		r.title = last
	}
	r.named(l.Server.Name, connectors.ConnectorSlug(r.title, connectors.ConnectorSlug(space, "connector")), "")
	return r.Entry
}

func (r *reading) describe(l listed) {
	switch l.Meta[official].Status {
	case "deleted":
		r.refuse("server", "The registry says that this server is deleted.")
	case "deprecated":
		r.note("The registry says that this server is deprecated.")
	}
	if text := strings.TrimSpace(l.Server.Description); text != "" {
		r.set(func(d *connectors.Draft) { d.Description = text })
	}
}

// reach takes over the address and the headers. What is a reader's own to fill in becomes a placeholder.
func (r *reading) reach(remote listedRemote) {
	r.kind = map[string]string{"streamable-http": "http", "sse": "sse"}[remote.Type]
	r.urls["url"] = r.filled(remote.URL, remote.Variables)
	if len(remote.Headers) > connectors.MaxHeaders {
		r.refuse("headers", fmt.Sprintf("There are at most %d headers.", connectors.MaxHeaders))
		return
	}
	for _, input := range remote.Headers {
		h := header{name: strings.TrimSpace(input.Name), value: strings.TrimSpace(input.Value)}
		if h.value == "" {
			h.value = strings.TrimSpace(input.Default)
		}
		if !h.valid() {
			r.refuse("headers", "A header of this server has a name that is none.")
			continue
		}
		r.ask(h, input)
	}
}

// ask decides about one header. A registry publishes no secrets: what stands in the place of one is somebody's to enter.
func (r *reading) ask(h header, input listedInput) {
	secret := input.Secret || h.looksSecret() || anySecret(input.Variables)
	if secret && !input.Required && !strings.EqualFold(h.name, "cookie") {
		r.note("It also takes the header " + h.name + ". Set it as authentication if the server asks for it.")
		return
	}
	h.value = braces.ReplaceAllString(h.value, "$${$1}")
	called, open := placeholder(h.value)
	switch {
	case secret && !open:
		h.value = strings.TrimSpace(schemeWord(h.value) + " ${" + h.name + "}")
	case !secret && (open || h.value == "") && input.Required:
		if called == "" {
			called = "nothing"
		}
		r.note("It needs the header " + h.name + ", where " + called + " stands. Add it in the settings.")
		return
	case !secret && (open || h.value == ""):
		return
	}
	if secret && !h.looksSecret() {
		r.secretive = append(r.secretive, h.name)
	}
	r.headers = append(r.headers, h)
}

// schemeWord is the scheme that stands before a secret, as it is written.
func schemeWord(value string) string {
	if scheme(value) == "" {
		return ""
	}
	return firstWord(value)
}

func anySecret(variables map[string]listedInput) bool {
	for _, v := range variables {
		if v.Secret {
			return true
		}
	}
	return false
}

// braces are the variables of a registry's templates: {host}.
var braces = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]{0,63})\}`)

// filled puts what the registry itself says in the place of an address's variables. One that is left refuses the entry.
func (r *reading) filled(template string, variables map[string]listedInput) string {
	return braces.ReplaceAllStringFunc(template, func(found string) string {
		name := found[1 : len(found)-1]
		v := variables[name]
		for _, value := range []string{v.Value, v.Default} {
			if value != "" && !v.Secret {
				return value
			}
		}
		return "${" + name + "}"
	})
}

// splitName is a registry's name for a server, "com.example/weather", in its two parts.
func splitName(name string) (space, last string) {
	space, last, found := strings.Cut(name, "/")
	if !found {
		return "", space
	}
	return space, last
}
