package admin

import (
	"context"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/words"
)

// programValues are the fields of the form that describe a command. An environment has none: it is never shown.
func programValues(c connectors.Command) map[string]string {
	return map[string]string{"command": c.Path, "args": strings.Join(c.Args, "\n"), "cwd": c.Dir}
}

// program reads what a connector of transport stdio starts. Its fields stand in the form whatever the transport; they count for that
// one.
func (p *draftParser) program(ctx context.Context, d *connectors.Draft) {
	p.text("command", &d.Command.Path)
	p.text("cwd", &d.Command.Dir)
	if p.form.values.Has("args") {
		d.Command.Args = argLines(p.form.values.Get("args"))
	}
	if d.Transport == connectors.TransportStdio {
		d.Env = p.env(ctx)
	}
}

// argLines reads one argument a line. Spaces belong to the argument; empty lines to nobody.
func argLines(typed string) []string {
	var args []string
	for line := range strings.Lines(typed) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			args = append(args, line)
		}
	}
	return args
}

// env reads lines of NAME=value; nil where there are none, so that the stored ones stay. No line is repeated in what is said: it may
// hold a secret.
func (p *draftParser) env(ctx context.Context) connectors.Environment {
	var env connectors.Environment
	for line := range strings.Lines(p.form.values.Get("env")) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if _, twice := env[name]; twice || !found || name == "" {
			p.refuse("env", words.T(ctx, "Each line is one variable, as API_TOKEN=value, and each name stands once."))
			return nil
		}
		if env == nil {
			env = connectors.Environment{}
		}
		env[name] = secret.Text(value)
	}
	return env
}

// address is where a connector leads: a URL, or what it starts.
func address(c connectors.Connector) string {
	if c.Transport != connectors.TransportStdio {
		return c.URL
	}
	return strings.Join(append([]string{c.Command.Path}, c.Command.Args...), " ")
}

func addressName(ctx context.Context, c connectors.Connector) string {
	if c.Transport == connectors.TransportStdio {
		return words.T(ctx, "Command")
	}
	return words.T(ctx, "Address")
}
