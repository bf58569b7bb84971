package clientconfig

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/connectors"
)

// Write lists connectors for a client, without secrets. Disabled ones are in the generic form alone: other
// clients would start them. Servers that the client cannot connect to are left out.
func Write(client Client, list []connectors.Connector) File { return WriteWithAPIs(client, list, nil) }

// WriteWithAPIs is [Write] with what HTTP APIs have besides their settings. These are in the generic form alone.
func WriteWithAPIs(client Client, list []connectors.Connector, apis map[connectors.ConnectorID]API) File {
	f, room := File{}, maxDocuments
	servers := map[string]FileServer{}
	bySlug := slices.SortedFunc(slices.Values(list), func(a, b connectors.Connector) int { return strings.Compare(a.Slug, b.Slug) })
	for _, c := range bySlug {
		if !c.Enabled && client != Generic || c.Transport == connectors.TransportSSE && !client.speaksSSE() ||
			c.Transport == connectors.TransportAPI && client != Generic {
			continue
		}
		w := serverWriter{client: client, connector: c, file: &f}
		s := w.writeServer()
		if c.Transport == connectors.TransportAPI {
			s.addAPI(apis[c.ID], c.ServerURL, &room)
		}
		servers[c.Slug] = s
	}
	switch client {
	case VSCode:
		f.Servers = servers
	case Zed:
		f.ContextServers = servers
	case Codex:
		f.TOML = writeTOML(servers)
	default:
		f.MCPServers = servers
	}
	return f
}

type serverWriter struct {
	client    Client
	connector connectors.Connector
	file      *File
}

func (w serverWriter) writeServer() FileServer {
	c := w.connector
	s := FileServer{Type: "http"}
	switch c.Transport {
	case connectors.TransportStdio:
		s.Type, s.Command, s.Args, s.Env, s.Dir = "stdio", c.Command.Path, w.writeArgs(), w.writeEnv(), c.Command.Dir
	case connectors.TransportSSE:
		s.Type = "sse"
		fallthrough
	default:
		s.URL, s.Headers = w.writeURL(), w.writeHeaders()
	}
	switch w.client {
	case Windsurf:
		s.URL, s.ServerURL = "", s.URL
	case Gemini:
		if s.Type == "http" {
			s.URL, s.HTTPURL = "", s.URL
		}
	}
	if w.client.infersTransport() && s.Type != "sse" {
		s.Type = ""
	}
	if w.client != Generic {
		return s
	}
	s.Name, s.Description, s.CredentialMode, s.Disabled = c.Name, c.Description, string(c.CredentialMode), !c.Enabled
	s.Tags = c.Tags
	s.SettingsPatch = c.Settings.JSON().Patch()
	s.Enabled = nil
	if c.CallsPerMinute == 0 {
		s.SettingsPatch.CallsPerMinute = nil
	}
	if len(c.Methods) == 0 {
		s.SettingsPatch.Methods = nil
	}
	if c.Transport == connectors.TransportHTTP {
		s.Transport = string(c.Transport)
	}
	s.Auth = &FileAuth{Type: string(c.Auth.Type), Header: c.Auth.Header, In: string(c.Auth.In), OAuthSettings: c.OAuth}
	return s
}

// writeHeaders returns the plain headers and a placeholder for the one that authenticates. OAuth clients need none;
// a machine's token has no placeholder either.
func (w serverWriter) writeHeaders() map[string]string {
	c := w.connector
	headers := maps.Clone(c.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	for name, value := range headers {
		if (header{name, value}).looksSecret() {
			headers[name] = w.addPlaceholder(name, "The header "+name)
		}
	}
	machine := c.Auth.Type == connectors.AuthClientCredentials || c.Auth.Type == connectors.AuthPrivateKeyJWT
	switch {
	case c.Auth.Type == connectors.AuthBearer, machine && w.client != Generic:
		headers["Authorization"] = "Bearer " + w.addPlaceholder("token", "The token")
	case c.Auth.Type == connectors.AuthBasic:
		headers["Authorization"] = "Basic " + w.addPlaceholder("basic", "Base64 of username:password")
	case c.Auth.Type == connectors.AuthAPIKey && c.Auth.In == connectors.KeyInHeader:
		headers[c.Auth.Header] = w.addPlaceholder("key", "The key")
	}
	return headers
}

// writeArgs replaces arguments that look secret by placeholders.
func (w serverWriter) writeArgs() []string {
	args := slices.Clone(w.connector.Command.Args)
	for _, found := range findSecretArgs(args) {
		name := strings.TrimLeft(found.option, "-")
		args[found.index] = w.addPlaceholder(name, "The argument "+name)
		if found.isInline {
			args[found.index] = found.option + "=" + args[found.index]
		}
	}
	return args
}

// writeEnv has placeholders alone: all values are secrets.
func (w serverWriter) writeEnv() map[string]string {
	env := map[string]string{}
	for _, name := range w.connector.EnvNames {
		env[name] = w.addPlaceholder(name, "The variable "+name)
	}
	return env
}

// writeURL replaces query parameters that look secret by placeholders.
func (w serverWriter) writeURL() string {
	u, err := url.Parse(w.connector.URL)
	if err != nil || u.RawQuery == "" {
		return w.connector.URL
	}
	parts := strings.Split(u.RawQuery, "&")
	for i, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil && value != "" && secretName(plain) {
			parts[i] = name + "=" + w.addPlaceholder(plain, "The parameter "+plain+" of the URL")
		}
	}
	u.RawQuery = strings.Join(parts, "&")
	return u.String()
}

// addPlaceholder returns the client's syntax for a secret: a variable, or an input.
func (w serverWriter) addPlaceholder(what, description string) string {
	name := w.connector.Slug + "-" + connectors.Slug(what, "secret")
	variable := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	if variable[0] >= '0' && variable[0] <= '9' {
		variable = "_" + variable
	}
	switch w.client {
	case Cursor, Windsurf:
		return "${env:" + variable + "}"
	case VSCode:
		if !slices.ContainsFunc(w.file.Inputs, func(i FileInput) bool { return i.ID == name }) { // a program may use one twice
			w.file.Inputs = append(w.file.Inputs, FileInput{Type: "promptString", ID: name, Description: description + " for " + w.connector.Name, Password: true})
		}
		return "${input:" + name + "}"
	default:
		return "${" + variable + "}"
	}
}
