package clientconfig

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// readStdio reads a program to run on Patchbay's machine. Whether it may run is decided by the draft's rules
// and the operator.
func (r *serverReader) readStdio() {
	if r.command == "" {
		r.addProblem("command", "Enter a command.")
		return
	}
	command := connectors.Command{Path: expandDefaults(r.command), Dir: expandDefaults(r.dir)}
	for _, arg := range r.args {
		command.Args = append(command.Args, expandDefaults(arg))
	}
	for _, part := range append([]string{command.Path, command.Dir}, command.Args...) {
		if called, ok := parsePlaceholder(part); ok && strings.HasPrefix(called, "${") {
			r.addProblem("command", "Replace "+called+" in the command with its value.")
			return
		}
	}
	if found := findSecretArgs(command.Args); len(found) > 0 {
		r.addNotice(fmt.Sprintf("Argument %d looks like a secret, and everyone can read arguments. Set it in env if the program allows.", found[0].index+1))
	}
	for i, arg := range command.Args {
		if name := inText.FindString(arg); name != "" {
			r.addNotice(fmt.Sprintf("Argument %d contains %s, passed as is: variables in arguments aren't replaced.", i+1, name))
		}
	}
	r.URL = ""
	env := r.readEnvironment()
	r.addSetting(func(d *connectors.Draft) {
		d.Transport, d.URL, d.Command = connectors.TransportStdio, "", command
		if env != nil {
			d.Env = env
		}
	})
}

// readEnvironment returns the variables with values; nil: none, and the stored ones stay.
func (r *serverReader) readEnvironment() connectors.Environment {
	var env connectors.Environment
	for _, name := range slices.Sorted(maps.Keys(r.env)) {
		value := expandDefaults(r.env[name])
		if called, missing := parsePlaceholder(value); missing && plainName.MatchString(name) {
			r.addNotice("The variable " + name + " is missing: the document has " + called + ". Set it.")
			continue
		}
		if env == nil {
			env = connectors.Environment{}
		}
		env[name] = secret.Text(value)
	}
	return env
}

// secretArg is an argument that looks secret by its option: --token=value, TOKEN=value, or --token and then the
// value.
type secretArg struct {
	index    int
	option   string // with its hyphens
	isInline bool   // the option is part of the argument
}

func findSecretArgs(args []string) []secretArg {
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

// splitCommand splits a command line that stands in one string, as a shell would.
func (r *serverReader) splitCommand() {
	isWindowsPath := strings.Contains(r.command, `\`)
	if len(r.args) > 0 || isWindowsPath || !strings.ContainsAny(r.command, " \t\n") {
		return
	}
	parts, err := shellquote.Split(r.command)
	if err != nil || len(parts) == 0 {
		r.addProblem("command", "Can't split the command line: unclosed quote or escape. Use args for arguments.")
		return
	}
	r.command, r.args = parts[0], parts[1:]
	if len(r.args) > 0 {
		r.addNotice(fmt.Sprintf("The command line was split into a program and %d arguments.", len(r.args)))
	}
}

// runners are programs that run the program or package in their first argument.
var runners = map[string]bool{"npx": true, "bunx": true, "uvx": true, "node": true, "bun": true, "python": true, "python3": true}

var packageName = regexp.MustCompile(`^@?[A-Za-z0-9._/-]+$`)

// programName is the name of an unnamed server's program. Other arguments may be secrets.
func (r *serverReader) programName() string {
	if r.command == "" {
		return ""
	}
	name := path.Base(strings.ReplaceAll(r.command, `\`, "/"))
	at := slices.IndexFunc(r.args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if !runners[name] || at < 0 || !packageName.MatchString(r.args[at]) {
		return name
	}
	run := r.args[at]
	if !strings.HasPrefix(run, "@") {
		run = path.Base(run)
	}
	return name + " " + run
}

func (r *serverReader) readCommand(location string, n node) {
	if n.isKind('{') { // Zed, formerly
		for _, inside := range n.members() {
			switch inside.name {
			case "path":
				r.command, _ = inside.stringValue()
			case "args":
				r.readArgs(location+".args", inside.node)
			case "env":
				if !inside.isNull() {
					r.readEnv(location+".env", inside.node)
				}
			default:
				r.ignored = append(r.ignored, location+"."+inside.name)
			}
		}
		return
	}
	parts, ok := n.stringList() // some clients have command and arguments in one array
	if !ok || len(parts) == 0 {
		r.addProblem(location, "Must be a string.")
		return
	}
	r.command, r.args = parts[0], append(parts[1:], r.args...)
}

func (r *serverReader) readArgs(location string, n node) {
	args, ok := n.stringList()
	if !ok {
		r.addProblem(location, "Must be an array of strings.")
		return
	}
	r.args = append(r.args, args...)
}

// readEnvNames reads the names of variables that Codex forwards from its own environment.
func (r *serverReader) readEnvNames(location string, n node) {
	names, ok := n.stringList()
	if !ok || len(names) > connectors.MaxEnv {
		r.addProblem(location, fmt.Sprintf("Must be an array of at most %d names.", connectors.MaxEnv))
		return
	}
	for _, name := range names {
		if _, ok := r.env[name]; !ok {
			r.env[name] = "${" + name + "}"
		}
	}
}

func (r *serverReader) readEnv(location string, n node) {
	if !n.isKind('{') {
		r.addProblem(location, "Must be an object of strings.")
		return
	}
	all := n.members()
	if len(all) > connectors.MaxEnv {
		r.addProblem(location, fmt.Sprintf("At most %d variables.", connectors.MaxEnv))
		return
	}
	for _, m := range all {
		value, ok := m.scalarText()
		if !ok {
			r.addProblem(location, "Each variable must be a string.")
			continue
		}
		r.env[m.name] = value
	}
}
