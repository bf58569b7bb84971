package mcpjson

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// readStdio describes a program on Patchbay's own machine. Whether one may be run is for the rules of a draft, and for the
// operator, to say.
func (r *reading) readStdio() {
	if r.command == "" {
		r.refuse("command", "A command is needed.")
		return
	}
	command := connectors.Command{Path: withDefaults(r.command), Dir: withDefaults(r.dir)}
	for _, arg := range r.args {
		command.Args = append(command.Args, withDefaults(arg))
	}
	for _, part := range append([]string{command.Path, command.Dir}, command.Args...) {
		if called, ok := placeholder(part); ok && strings.HasPrefix(called, "${") {
			r.refuse("command", "The command is not whole: "+called+" stands in it. Put the value in its place.")
			return
		}
	}
	if found := secretArgs(command.Args); len(found) > 0 {
		r.note(fmt.Sprintf("Argument %d looks like a secret, and everyone here can read arguments. If the program takes it from a variable as well, set that in env instead.", found[0].at+1))
	}
	r.URL = ""
	env := r.environment()
	r.set(func(d *connectors.Draft) {
		d.Transport, d.URL, d.Command = connectors.TransportStdio, "", command
		if env != nil {
			d.Env = env
		}
	})
}

// environment are the variables that the document has values for; nil: none, and what is stored stays.
func (r *reading) environment() connectors.Environment {
	var env connectors.Environment
	for _, name := range slices.Sorted(maps.Keys(r.env)) {
		value := withDefaults(r.env[name])
		if called, missing := placeholder(value); missing && plainName.MatchString(name) {
			r.note("The variable " + name + " is not in the document: " + called + " stands there. Set it.")
			continue
		}
		if env == nil {
			env = connectors.Environment{}
		}
		env[name] = secret.Text(value)
	}
	return env
}

// secretArg is an argument that looks like a secret, by its option: --token=value, TOKEN=value, or --token and then the value.
type secretArg struct {
	at     int
	option string // with its hyphens
	within bool   // the option stands in the argument, too
}

func secretArgs(args []string) []secretArg {
	var found []secretArg
	for i, arg := range args {
		option, value, within := strings.Cut(arg, "=")
		switch {
		case !strings.HasPrefix(option, "-") && !within, !secretName(strings.TrimLeft(option, "-")):
		case within && value != "":
			found = append(found, secretArg{i, option, true})
		case !within && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			found = append(found, secretArg{i + 1, option, false})
		}
	}
	return found
}

func (r *reading) readCommand(at string, n node) {
	parts, ok := n.texts() // some clients have command and arguments in one array
	if !ok || len(parts) == 0 {
		r.refuse(at, "This must be a text.")
		return
	}
	r.command, r.args = parts[0], append(parts[1:], r.args...)
}

func (r *reading) readArgs(at string, n node) {
	args, ok := n.texts()
	if !ok {
		r.refuse(at, "This must be an array of texts.")
		return
	}
	r.args = append(r.args, args...)
}

func (r *reading) readEnv(at string, n node) {
	if !n.is('{') {
		r.refuse(at, "This must be an object of texts.")
		return
	}
	all := n.members()
	if len(all) > connectors.MaxEnv {
		r.refuse(at, fmt.Sprintf("There are at most %d variables.", connectors.MaxEnv))
		return
	}
	for _, m := range all {
		value, ok := m.scalar()
		if !ok {
			r.refuse(at, "Each variable must be a text.")
			continue
		}
		r.env[m.name] = value
	}
}
