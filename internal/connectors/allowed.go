package connectors

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"patchbay/internal/fault"
)

// AllowedArgs is how a command's arguments are compared with the operator's.
type AllowedArgs string

// The rules. The zero value allows any arguments if the operator lists none, else exactly the listed ones.
const (
	ArgsAsWritten AllowedArgs = ""
	ArgsNone      AllowedArgs = "none"   // no arguments
	ArgsPrefix    AllowedArgs = "prefix" // these first, then any
)

// AllowedCommand is a program that the operator allows connectors to start.
type AllowedCommand struct {
	Path string // absolute and clean
	Args []string
	Rule AllowedArgs
	// Dirs are the allowed working directories, besides / as the default. nil: any with any arguments, else
	// none. With fixed arguments a directory could still choose the code: npx, python -m and others load theirs
	// from there.
	Dirs []string
	// Env are the allowed variables. nil: with any arguments all but proxies, certificates and the ones always
	// refused, else none. With fixed arguments a variable could still choose the code: npx downloads it.
	Env []string
}

// AnyArgs reports whether the connector chooses all the arguments.
func (a AllowedCommand) AnyArgs() bool { return a.Rule == ArgsAsWritten && len(a.Args) == 0 }

func (a AllowedCommand) allowsArgs(args []string) bool {
	switch {
	case a.AnyArgs():
		return true
	case a.Rule == ArgsNone:
		return len(args) == 0
	case a.Rule == ArgsPrefix:
		return len(args) >= len(a.Args) && slices.Equal(a.Args, args[:len(a.Args)])
	default:
		return slices.Equal(a.Args, args)
	}
}

func (a AllowedCommand) allowsDir(dir string) bool {
	return dir == "" || dir == "/" || a.Dirs == nil && a.AnyArgs() || slices.Contains(a.Dirs, dir)
}

func (a AllowedCommand) allowsVariable(name string) bool {
	if a.Env == nil && a.AnyArgs() {
		return !mustBeListed(strings.ToUpper(name))
	}
	return slices.Contains(a.Env, name)
}

// checkCommand returns what is not allowed of a command with this program's path. It does not look at this
// machine.
func (a AllowedCommand) checkCommand(c Command, env []string) []fault.Field {
	if !a.allowsArgs(c.Args) {
		return []fault.Field{{Location: "args", Message: fmt.Sprintf("%s isn't allowed with these arguments.", c.Path)}}
	}
	var fields []fault.Field
	if !a.allowsDir(c.Dir) {
		fields = append(fields, fault.Field{
			Location: "cwd",
			Message:  fmt.Sprintf("%s isn't allowed to run in this folder. Leave the folder empty.", c.Path),
		})
	}
	for _, name := range env {
		// Invalid names are refused elsewhere and may be secrets: they are not repeated.
		if !a.allowsVariable(name) && isEnvName(name) {
			fields = append(fields, fault.Field{
				Location: "env." + name,
				Message:  fmt.Sprintf("%s isn't allowed to receive %s: the operator must allow it with env=%s.", c.Path, name, name),
			})
		}
	}
	return fields
}

// AllowedCommands are the commands that the operator of the installation allows. Empty: no connector starts a
// program.
type AllowedCommands []AllowedCommand

// Check returns why a command with the variables of env is not allowed; nil: it is. Paths are compared as text:
// the operator answers for the targets of links. If a program is allowed in several ways, the closest one's
// faults are returned.
func (a AllowedCommands) Check(c Command, env []string) []fault.Field {
	if len(a) == 0 {
		return []fault.Field{{Location: "transport", Message: "Programs are turned off here. The operator can allow them."}}
	}
	nearest := []fault.Field{{Location: "command", Message: "This command isn't allowed here."}}
	for _, allowed := range a {
		if allowed.Path != c.Path {
			continue
		}
		wrong := allowed.checkCommand(c, env)
		if len(wrong) == 0 {
			return nil
		}
		if mismatchScore(wrong) < mismatchScore(nearest) {
			nearest = wrong
		}
	}
	return nearest
}

// Resolve returns the path of an allowed program with the name of c, which has no directory: of the first one that allows c,
// else of the first one, so that [AllowedCommands.Check] says what is wrong.
func (a AllowedCommands) Resolve(c Command, env []string) (path string, ok bool) {
	if c.Path == "" || strings.ContainsAny(c.Path, `/\`) {
		return "", false
	}
	for _, allowed := range a {
		if filepath.Base(allowed.Path) != c.Path {
			continue
		}
		if named := (Command{Path: allowed.Path, Args: c.Args, Dir: c.Dir}); len(allowed.checkCommand(named, env)) == 0 {
			return allowed.Path, true
		}
		if !ok {
			path, ok = allowed.Path, true
		}
	}
	return path, ok
}

// CheckStart returns why a stored command must not be started; nil: it may. It is called at each start, as the
// rules may have changed since it was stored.
func (a AllowedCommands) CheckStart(c Command, env Environment) []fault.Field {
	return append(a.Check(c, env.Names()), env.Validate()...)
}

// mismatchScore orders refusals: another program, other arguments, then the number of faults.
func mismatchScore(wrong []fault.Field) int {
	switch wrong[0].Location {
	case "command":
		return MaxEnv + 3
	case "args":
		return MaxEnv + 2
	default:
		return len(wrong)
	}
}
