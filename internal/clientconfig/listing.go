package clientconfig

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// registryEntry is a server in an MCP registry's list (GET /v0.1/servers, schema 2025-12-11), with the fields
// that a connector needs.
type registryEntry struct {
	Server registryServer          `json:"server"`
	Meta   map[string]registryMeta `json:"_meta,omitempty"`
}

type registryServer struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Version     string           `json:"version,omitempty"`
	Remotes     []registryRemote `json:"remotes"` // always written: isListed recognizes the server by it
}

type registryRemote struct {
	Type      string                   `json:"type"`
	URL       string                   `json:"url"`
	Headers   []registryInput          `json:"headers,omitempty"`
	Variables map[string]registryInput `json:"variables,omitempty"`
}

type registryInput struct {
	Name      string                   `json:"name,omitempty"`
	Value     string                   `json:"value,omitempty"`
	Default   string                   `json:"default,omitempty"`
	Required  bool                     `json:"isRequired,omitempty"`
	Secret    bool                     `json:"isSecret,omitempty"`
	Variables map[string]registryInput `json:"variables,omitempty"`
}

type registryMeta struct {
	Status string `json:"status,omitempty"`
	Latest *bool  `json:"isLatest,omitempty"`
}

// officialMeta is the _meta key of the official registry's status fields.
const officialMeta = "io.modelcontextprotocol.registry/official"

// ReadPage returns the servers of a page of a registry's list, reduced to what an import needs, and the next
// page's cursor; "": none.
func ReadPage(page []byte) (servers []json.RawMessage, next string, err error) {
	var list struct {
		Servers  *[]json.RawMessage `json:"servers"`
		Metadata struct {
			Next string `json:"nextCursor"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(page, &list); err != nil || list.Servers == nil {
		return nil, "", fault.Errorf(fault.Invalid, "Not an MCP registry list: it has no servers.")
	}
	for _, raw := range *list.Servers {
		if short, ok := readListed(node{raw: raw}); ok && short.isCurrent() {
			servers = append(servers, short.toJSON())
		}
	}
	return servers, list.Metadata.Next, nil
}

// isListed reports whether a value is a registry's server: in its envelope, or the server.json alone.
func isListed(n node) bool {
	if !n.isKind('{') || isServer(n) {
		return false
	}
	fields := n.fields()
	inner, enveloped := fields["server"]
	if enveloped && !isServer(inner) {
		fields = inner.fields()
	}
	_, named := fields["name"]
	return named && (enveloped && inner.isKind('{') || fields["remotes"].isKind('[') || fields["packages"].isKind('['))
}

// readListed reads a registry's server; false: it is none, or has fields of other types.
func readListed(n node) (registryEntry, bool) {
	if !isListed(n) {
		return registryEntry{}, false
	}
	var l registryEntry
	raw := n.raw
	if _, enveloped := n.fields()["server"]; !enveloped {
		raw = slices.Concat([]byte(`{"server":`), raw, []byte("}"))
	}
	var loose struct {
		Server json.RawMessage            `json:"server"`
		Meta   map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(raw, &loose) != nil || json.Unmarshal(loose.Server, &l.Server) != nil {
		return registryEntry{}, false
	}
	var meta registryMeta
	if json.Unmarshal(loose.Meta[officialMeta], &meta) == nil {
		l.Meta = map[string]registryMeta{officialMeta: meta}
	}
	return l, true
}

func (l registryEntry) isCurrent() bool {
	latest := l.Meta[officialMeta].Latest
	return latest == nil || *latest
}

// toJSON returns the server's JSON, reduced to what an import needs.
func (l registryEntry) toJSON() json.RawMessage {
	raw, err := json.Marshal(l)
	if err != nil {
		return nil // strings and booleans always marshal
	}
	return raw
}

// pickRemote picks a remote: Streamable HTTP, else HTTP+SSE.
func (l registryEntry) pickRemote() (registryRemote, bool) {
	for _, kind := range []string{"streamable-http", "sse"} {
		if i := slices.IndexFunc(l.Server.Remotes, func(r registryRemote) bool { return r.Type == kind }); i >= 0 {
			return l.Server.Remotes[i], true
		}
	}
	return registryRemote{}, false
}

// readListing makes an entry of a registry's server, by the same rules for secret headers and addresses as
// other entries.
func readListing(m namedNode) Entry {
	l, ok := readListed(m.node)
	r := &serverReader{fields: m.fields(), urls: map[string]string{}, env: map[string]string{}}
	r.Listed = true
	if !ok {
		r.addProblem("server", "Not a valid MCP registry entry.")
		r.setName("server", "", "")
		return r.Entry
	}
	r.Summary, r.fields = l.Server.Description, map[string]node{}
	r.setDescription(l)
	if remote, ok := l.pickRemote(); ok {
		l.Server.Remotes = []registryRemote{remote}
		r.readRemote(remote)
		r.readAddress()
		r.readAuth()
	} else {
		r.addProblem("remotes", "It's a program without a URL; Patchbay needs one.")
	}
	r.Document = l.toJSON()
	space, last := splitName(l.Server.Name)
	r.title = strings.TrimSpace(l.Server.Title)
	if r.title == "" {
		r.title = last
	}
	r.setName(l.Server.Name, connectors.ConnectorSlug(r.title, connectors.ConnectorSlug(space, "connector")), "")
	return r.Entry
}

func (r *serverReader) setDescription(l registryEntry) {
	switch l.Meta[officialMeta].Status {
	case "deleted":
		r.addProblem("server", "Deleted in the registry.")
	case "deprecated":
		r.addNotice("Deprecated in the registry.")
	}
	if text := strings.TrimSpace(l.Server.Description); text != "" {
		r.addSetting(func(d *connectors.Draft) { d.Description = text })
	}
}

// readRemote reads address and headers. Values for the user to enter become placeholders.
func (r *serverReader) readRemote(remote registryRemote) {
	r.kind = map[string]string{"streamable-http": "http", "sse": "sse"}[remote.Type]
	r.urls["url"] = r.expandTemplate(remote.URL, remote.Variables)
	if len(remote.Headers) > connectors.MaxHeaders {
		r.addProblem("headers", fmt.Sprintf("At most %d headers.", connectors.MaxHeaders))
		return
	}
	for _, input := range remote.Headers {
		h := header{name: strings.TrimSpace(input.Name), value: strings.TrimSpace(input.Value)}
		if h.value == "" {
			h.value = strings.TrimSpace(input.Default)
		}
		if !h.hasValidName() {
			r.addProblem("headers", "One header has an invalid name.")
			continue
		}
		r.readRemoteHeader(h, input)
	}
}

// readRemoteHeader reads one header. A registry publishes no secrets: a secret value is for the user to enter.
func (r *serverReader) readRemoteHeader(h header, input registryInput) {
	secret := input.Secret || h.looksSecret() || hasSecret(input.Variables)
	if secret && !input.Required && !strings.EqualFold(h.name, "cookie") {
		r.addNotice("It also takes the header " + h.name + ". If needed, set it as authentication.")
		return
	}
	h.value = templateVariable.ReplaceAllString(h.value, "$${$1}")
	called, open := parsePlaceholder(h.value)
	switch {
	case secret && !open:
		h.value = strings.TrimSpace(schemePrefix(h.value) + " ${" + h.name + "}")
	case !secret && (open || h.value == "") && input.Required:
		if called == "" {
			called = "empty"
		}
		r.addNotice("It needs the header " + h.name + ", whose value is " + called + ". Add it in the settings.")
		return
	case !secret && (open || h.value == ""):
		return
	}
	if secret && !h.looksSecret() {
		r.secretHeaders = append(r.secretHeaders, h.name)
	}
	r.headers = append(r.headers, h)
}

func schemePrefix(value string) string {
	if authScheme(value) == "" {
		return ""
	}
	return firstWord(value)
}

func hasSecret(variables map[string]registryInput) bool {
	for _, v := range variables {
		if v.Secret {
			return true
		}
	}
	return false
}

// templateVariable matches the variables of a registry's templates: {host}.
var templateVariable = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]{0,63})\}`)

// expandTemplate replaces the variables that the registry has values for. A remaining one refuses the entry.
func (r *serverReader) expandTemplate(template string, variables map[string]registryInput) string {
	return templateVariable.ReplaceAllStringFunc(template, func(found string) string {
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

// splitName splits a registry's server name, "com.example/weather".
func splitName(name string) (space, last string) {
	space, last, found := strings.Cut(name, "/")
	if !found {
		return "", space
	}
	return space, last
}
