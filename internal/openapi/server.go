package openapi

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"patchbay/internal/fault"
	"patchbay/internal/jsonschema"
)

// Server is an address of the API. It may have variables in braces, with the defaults of the document, or values that a person
// chose. Arguments never set one.
type Server struct {
	URL         string
	Description string
	Variables   []ServerVariable
}

// ServerVariable is a variable of an address.
type ServerVariable struct {
	Name        string
	Default     string
	HasDefault  bool
	Enum        []string // empty: any
	Description string
}

const (
	maxServers   = 50   // of a list, and variables of a server
	maxServerURL = 2048 // bytes of an address
)

// readServers reads the servers of a document, path or operation. nil: it has none.
func (d *Document) readServers(v value) []Server {
	if d.dialect == swagger2 {
		return swaggerServers(v)
	}
	var servers []Server
	for _, s := range v.Get("servers").Values() {
		if len(servers) == maxServers || s.GetText("url") == "" {
			continue
		}
		server := Server{URL: s.GetText("url"), Description: shortenText(s.GetText("description"), 200)}
		for _, m := range s.Get("variables").Fields() {
			if len(server.Variables) < maxServers {
				server.Variables = append(server.Variables, readVariable(m))
			}
		}
		servers = append(servers, server)
	}
	return servers
}

func readVariable(m jsonschema.Member) ServerVariable {
	text := m.Value.Get("default")
	variable := ServerVariable{Name: m.Name, Default: scalarText(text), Description: shortenText(m.Value.GetText("description"), 200)}
	variable.HasDefault = text.Is(jsonschema.String) || text.Is(jsonschema.Number)
	for _, item := range m.Value.GetItems("enum") {
		variable.Enum = append(variable.Enum, scalarText(item))
	}
	return variable
}

var variableName = regexp.MustCompile(`\{([^{}]*)\}`)

// variableValue is what a variable may be: a label or a path, so that it ends neither the host nor the path.
var variableValue = regexp.MustCompile(`^[A-Za-z0-9._/-]*$`)

// Resolve returns the address with values for its variables. A variable without a value has its default, which must be one of
// the enumeration. base is the address of the document, for an address that is relative.
func (s Server) Resolve(values map[string]string, base string) (string, error) {
	if s.isTooLong() {
		return "", fault.Errorf(fault.Invalid, "The address of the server is too long.")
	}
	var refused error
	text := variableName.ReplaceAllStringFunc(s.URL, func(match string) string {
		name := match[1 : len(match)-1]
		at := slices.IndexFunc(s.Variables, func(v ServerVariable) bool { return v.Name == name })
		set, given := values[name]
		if at < 0 || !given && !s.Variables[at].HasDefault {
			refused = fault.Errorf(fault.Invalid, "The document has no value for the server variable %q. Set the connector's API URL (server_url).", shortenText(name, 100))
			return ""
		}
		if !given {
			set = s.Variables[at].Default
		}
		enum := s.Variables[at].Enum
		if len(enum) > 0 && !slices.Contains(enum, set) && (given || !slices.Contains(enum, s.Variables[at].Default)) {
			refused = fault.Errorf(fault.Invalid, "A server variable has a value that the document doesn't list.")
		}
		if strings.HasPrefix(set, "https://") && match == s.URL {
			return set // some documents have one variable for all of the address
		}
		if !variableValue.MatchString(set) || strings.Contains(set, "..") {
			refused = fault.Errorf(fault.Invalid, "A server variable has characters that aren't allowed.")
		}
		return set
	})
	if refused != nil {
		return "", refused
	}
	return checkServerURL(text, base)
}

// checkServerURL returns an absolute address of a server without a slash at its end.
func checkServerURL(text, base string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err == nil && base != "" {
		var b *url.URL
		if b, err = url.Parse(base); err == nil {
			u = b.ResolveReference(u)
		}
	}
	switch {
	case err != nil:
		return "", fault.Wrap(fault.Invalid, err, "The address of the server isn't a valid URL.")
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "":
		return "", fault.Errorf(fault.Invalid, "The address of the server must begin with https:// or http://.")
	case u.User != nil:
		return "", fault.Errorf(fault.Invalid, "The address of the server must not have a user name or password.")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host) + strings.TrimRight(u.EscapedPath(), "/"), nil
}

// isInstance reports whether an address is that of the server with other values for its variables: those that its enumerations allow. A
// relative one begins at the origin of the address. A server that is one variable as a whole has no instances.
func (s Server) isInstance(address string) bool {
	template := strings.TrimRight(s.URL, "/")
	literal, rest, found := strings.Cut(template, "{")
	if !found || s.isTooLong() || variableName.FindString(template) == template {
		return false
	}
	if u, err := url.Parse(address); err == nil && strings.HasPrefix(literal, "/") {
		literal = u.Scheme + "://" + u.Host + literal
	}
	for strings.HasPrefix(address, literal) {
		address = address[len(literal):]
		name, after, _ := strings.Cut(rest, "}")
		if literal, rest, found = strings.Cut(after, "{"); !found {
			value, ok := strings.CutSuffix(address, literal)
			return ok && s.allowsValue(name, value) && (literal == "" || !strings.Contains(value, "/"))
		}
		at := strings.Index(address, literal)
		if at < 0 || strings.Contains(address[:at], "/") || !s.allowsValue(name, address[:at]) {
			return false
		}
		address = address[at:]
	}
	return false
}

// allowsValue reports whether a variable may have a value that a person chose.
func (s Server) allowsValue(name, value string) bool {
	at := slices.IndexFunc(s.Variables, func(v ServerVariable) bool { return v.Name == name })
	return at >= 0 && value != "" && !strings.Contains(value, "..") && !strings.ContainsAny(value, `?#@%\`) &&
		(len(s.Variables[at].Enum) == 0 || slices.Contains(s.Variables[at].Enum, value))
}

// isTooLong reports whether the address is beyond what is worth filling in.
func (s Server) isTooLong() bool {
	return len(s.URL) > maxServerURL || strings.Count(s.URL, "{") > maxServers
}

// chooseServer returns the address for an operation: of its own servers, those of its path, or those of the document. The server that
// the options set chooses the variables of one of the document's. Relative ones begin there. It stands in where the document has none
// that can be used.
func (d *Document) chooseServer(o *Operation) (string, error) {
	if len(o.Servers) > 0 {
		return d.resolveServers(o.Servers, false)
	}
	d.ownServer.Do(func() { d.server, d.serverErr = d.resolveServers(d.Servers, true) })
	return d.server, d.serverErr
}

// resolveServers returns the first usable address of servers. choose: the server of the options may choose their variables.
func (d *Document) resolveServers(servers []Server, choose bool) (string, error) {
	if len(servers) == 0 && d.options.Server == "" {
		servers = []Server{{URL: "/"}}
	}
	if set, err := checkServerURL(d.options.Server, ""); err == nil && choose && slices.ContainsFunc(servers, func(s Server) bool { return s.isInstance(set) }) {
		return set, nil
	}
	var first error
	for _, s := range servers {
		address, err := s.Resolve(nil, cmp.Or(d.options.Server, d.options.URL))
		if err == nil {
			return address, nil
		}
		if first == nil {
			first = err
		}
	}
	if d.options.Server != "" {
		return checkServerURL(d.options.Server, d.options.URL)
	}
	return "", first
}
