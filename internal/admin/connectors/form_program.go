package connectors

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/secret"
)

// programValues are the form fields of a command, without its environment, which is never shown.
func programValues(c connectors.Command) map[string]string {
	return map[string]string{"command": c.Path, "args": strings.Join(c.Args, "\n"), "cwd": c.Dir}
}

// readProgram reads the command of a stdio connector. The form has its fields for every transport.
func (p *DraftParser) readProgram(ctx context.Context, d *connectors.Draft) {
	p.readText("command", &d.Command.Path)
	p.readText("cwd", &d.Command.Dir)
	if p.Form.Values.Has("args") {
		d.Command.Args = argLines(p.Form.Values.Get("args"))
	}
	if d.Transport == connectors.TransportStdio {
		d.Env = p.readEnvironment(ctx)
	}
}

// argLines reads one argument per line. Spaces are kept, and empty lines are skipped.
func argLines(typed string) []string {
	var args []string
	for line := range strings.Lines(typed) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			args = append(args, line)
		}
	}
	return args
}

// readEnvironment reads lines of NAME=value; nil without any, so that the stored ones stay. Error messages do
// not repeat a line, because it may hold a secret.
func (p *DraftParser) readEnvironment(ctx context.Context) connectors.Environment {
	var env connectors.Environment
	for line := range strings.Lines(p.Form.Values.Get("env")) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if _, twice := env[name]; twice || !found || name == "" {
			p.addProblem("env", i18n.T(ctx, "One variable per line, like API_TOKEN=value, no duplicates."))
			return nil
		}
		if env == nil {
			env = connectors.Environment{}
		}
		env[name] = secret.Text(value)
	}
	return env
}

// connectorAddress is a connector's URL or command.
func connectorAddress(c connectors.Connector) string {
	if c.Transport != connectors.TransportStdio {
		return c.URL
	}
	return strings.Join(append([]string{c.Command.Path}, c.Command.Args...), " ")
}

// callAddress is where calls go. The URL of an HTTP API without an API URL may be that of its document, on the same server.
func callAddress(c connectors.Connector) string {
	if c.Transport == connectors.TransportAPI {
		return cmp.Or(c.ServerURL, serverAddress(c.URL))
	}
	return connectorAddress(c)
}

// serverAddress returns scheme and host of a URL.
func serverAddress(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	return u.Scheme + "://" + u.Host
}

func addressName(ctx context.Context, c connectors.Connector) string {
	if c.Transport == connectors.TransportStdio {
		return i18n.T(ctx, "Command")
	}
	return i18n.T(ctx, "Address")
}
