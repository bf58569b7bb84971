package connectors

import (
	"fmt"
	"slices"
	"strings"

	"patchbay/internal/fault"
)

// AllowedArgs says how a command's arguments are held against those that the operator wrote.
type AllowedArgs string

// The ways. The zero value is any where the operator wrote none, else exactly those.
const (
	ArgsAsWritten AllowedArgs = ""
	ArgsNone      AllowedArgs = "none"   // there are none
	ArgsPrefix    AllowedArgs = "prefix" // these come first, whatever follows
)

// AllowedCommand is a program that the operator lets connectors start.
type AllowedCommand struct {
	Path string // absolute and clean
	Args []string
	Rule AllowedArgs
	// Dirs are the folders in which it may work, besides / where it works by itself. nil: any with any arguments, else none. Where the
	// operator has written the arguments, a folder could still choose the code: npx, python -m and others look for theirs there.
	Dirs []string
	// Env are the variables that it may be given. nil: with any arguments all but proxies, certificates and what is refused to every
	// program, else none. Where the operator has written the arguments, a variable could still choose the code: npx downloads it.
	Env []string
}

// AnyArgs tells whether the connector chooses all the arguments.
func (a AllowedCommand) AnyArgs() bool { return a.Rule == ArgsAsWritten && len(a.Args) == 0 }

func (a AllowedCommand) takesArgs(args []string) bool {
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

func (a AllowedCommand) takesDir(dir string) bool {
	return dir == "" || dir == "/" || a.Dirs == nil && a.AnyArgs() || slices.Contains(a.Dirs, dir)
}

func (a AllowedCommand) takesVariable(name string) bool {
	if a.Env == nil && a.AnyArgs() {
		return !mustBeNamed(strings.ToUpper(name))
	}
	return slices.Contains(a.Env, name)
}

// check tells what of a command with this program's path is not allowed. Nothing of it depends on what there is on this machine.
func (a AllowedCommand) check(c Command, env []string) []fault.Field {
	if !a.takesArgs(c.Args) {
		return []fault.Field{{Location: "args", Message: fmt.Sprintf("%s may not be started with these arguments on this installation.", c.Path)}}
	}
	var fields []fault.Field
	if !a.takesDir(c.Dir) {
		fields = append(fields, fault.Field{
			Location: "cwd",
			Message:  fmt.Sprintf("%s may not work in this folder on this installation: its operator names the folders. Leave it empty.", c.Path),
		})
	}
	for _, name := range env {
		// What is no name is refused elsewhere, and may be a secret: it is not repeated.
		if !a.takesVariable(name) && envName(name) {
			fields = append(fields, fault.Field{
				Location: "env." + name,
				Message:  fmt.Sprintf("%s may not be given %s on this installation: its operator names the variables, with env=%s.", c.Path, name, name),
			})
		}
	}
	return fields
}

// AllowedCommands are all of them; none: no connector starts anything. They are the operator's, and no tenant's: what they do not
// name is started for nobody.
type AllowedCommands []AllowedCommand

// Check tells what is not allowed of a command that is given the variables of env; nothing where it may be started. Paths are compared
// as they are written: what a link leads to is the operator's word, too. Where a program is allowed in several ways, the nearest one
// is told.
func (a AllowedCommands) Check(c Command, env []string) []fault.Field {
	if len(a) == 0 {
		return []fault.Field{{Location: "transport", Message: "No stdio command is allowed on this installation."}}
	}
	nearest := []fault.Field{{Location: "command", Message: "This command is not allowed on this installation."}}
	for _, allowed := range a {
		if allowed.Path != c.Path {
			continue
		}
		wrong := allowed.check(c, env)
		if len(wrong) == 0 {
			return nil
		}
		if distance(wrong) < distance(nearest) {
			nearest = wrong
		}
	}
	return nearest
}

// CheckStart tells why a command is not started with an environment; nothing where it may be. Whoever starts one asks each time: what
// was stored may have been allowed then, and the operator's rules or ours may be others now.
func (a AllowedCommands) CheckStart(c Command, env Environment) []fault.Field {
	return append(a.Check(c, env.Names()), env.Validate()...)
}

// distance orders refusals: another program, other arguments, and then by their number.
func distance(wrong []fault.Field) int {
	switch wrong[0].Location {
	case "command":
		return MaxEnv + 3
	case "args":
		return MaxEnv + 2
	default:
		return len(wrong)
	}
}
