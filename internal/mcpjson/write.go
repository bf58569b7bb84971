package mcpjson

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/connectors"
)

// Write lists connectors for a client, without any secret. Disabled ones stand in the generic form alone: the other programs
// would start them.
func Write(client Client, list []connectors.Connector) File {
	f := File{}
	servers := map[string]FileServer{}
	for _, c := range list {
		if !c.Enabled && client != Generic {
			continue
		}
		w := writing{client: client, connector: c, file: &f}
		servers[c.Slug] = w.server()
	}
	if client == VSCode {
		f.Servers = servers
	} else {
		f.MCPServers = servers
	}
	return f
}

// writing is one connector while it is written.
type writing struct {
	client    Client
	connector connectors.Connector
	file      *File
}

func (w writing) server() FileServer {
	c := w.connector
	s := FileServer{Type: "http"}
	switch c.Transport {
	case connectors.TransportStdio:
		s.Type, s.Command, s.Args, s.Env, s.Dir = "stdio", c.Command.Path, w.args(), w.env(), c.Command.Dir
	case connectors.TransportSSE:
		s.Type = "sse"
		fallthrough
	default:
		s.URL, s.Headers = w.url(), w.headers()
	}
	if w.client != Generic {
		return s
	}
	interval := int64(c.SyncInterval.Seconds())
	s.Name, s.Description, s.CredentialMode, s.ToolChanges = c.Name, c.Description, string(c.CredentialMode), string(c.ToolChanges)
	s.TimeoutMS, s.RetryAttempts, s.SyncIntervalS, s.Disabled = c.Timeout.Milliseconds(), &c.RetryAttempts, &interval, !c.Enabled
	s.CallsPerMinute = c.CallsPerMinute
	// What a document leaves out is the tenant's to say that imports it. An export leaves nothing out.
	age := int64(c.DefinitionAge.Seconds())
	s.MaxDefinitionAgeS, s.Listen = &age, string(c.Listen)
	if c.Transport == connectors.TransportHTTP {
		s.Transport = string(c.Transport)
	}
	s.Auth = &FileAuth{Type: string(c.Auth.Type), Header: c.Auth.Header, OAuthSettings: c.OAuth}
	return s
}

// headers are the plain ones, and a placeholder for the one that authenticates. Those who sign in with OAuth find the way
// themselves; a machine's token is somebody else's to get.
func (w writing) headers() map[string]string {
	c := w.connector
	headers := maps.Clone(c.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	for name, value := range headers {
		if (header{name, value}).looksSecret() {
			headers[name] = w.placeholder(name, "The header "+name)
		}
	}
	machine := c.Auth.Type == connectors.AuthClientCredentials || c.Auth.Type == connectors.AuthPrivateKeyJWT
	switch {
	case c.Auth.Type == connectors.AuthBearer, machine && w.client != Generic:
		headers["Authorization"] = "Bearer " + w.placeholder("token", "The token")
	case c.Auth.Type == connectors.AuthBasic:
		headers["Authorization"] = "Basic " + w.placeholder("basic", "base64 of user name, colon and password")
	case c.Auth.Type == connectors.AuthAPIKey:
		headers[c.Auth.Header] = w.placeholder("key", "The key")
	}
	return headers
}

// args have placeholders for what looks like a secret: a program may take it in no other way.
func (w writing) args() []string {
	args := slices.Clone(w.connector.Command.Args)
	for _, found := range secretArgs(args) {
		name := strings.TrimLeft(found.option, "-")
		args[found.at] = w.placeholder(name, "The argument "+name)
		if found.within {
			args[found.at] = found.option + "=" + args[found.at]
		}
	}
	return args
}

// env has placeholders alone: all values are secrets.
func (w writing) env() map[string]string {
	env := map[string]string{}
	for _, name := range w.connector.EnvNames {
		env[name] = w.placeholder(name, "The variable "+name)
	}
	return env
}

// url has placeholders for parameters that look like secrets: servers exist that take them in no other way.
func (w writing) url() string {
	u, err := url.Parse(w.connector.URL)
	if err != nil || u.RawQuery == "" {
		return w.connector.URL
	}
	parts := strings.Split(u.RawQuery, "&")
	for i, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil && value != "" && secretName(plain) {
			parts[i] = name + "=" + w.placeholder(plain, "The parameter "+plain+" of the URL")
		}
	}
	u.RawQuery = strings.Join(parts, "&")
	return u.String()
}

// placeholder names a secret as the client finds it: in a variable, or by asking.
func (w writing) placeholder(what, description string) string {
	name := w.connector.Slug + "-" + connectors.Slug(what, "secret")
	variable := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	if variable[0] >= '0' && variable[0] <= '9' {
		variable = "_" + variable
	}
	switch w.client {
	case Cursor:
		return "${env:" + variable + "}"
	case VSCode:
		if !slices.ContainsFunc(w.file.Inputs, func(i FileInput) bool { return i.ID == name }) { // a program may take one in two ways
			w.file.Inputs = append(w.file.Inputs, FileInput{Type: "promptString", ID: name, Description: description + " for " + w.connector.Name, Password: true})
		}
		return "${input:" + name + "}"
	default:
		return "${" + variable + "}"
	}
}
