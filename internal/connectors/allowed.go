package connectors

import (
	"fmt"
	"slices"

	"patchbay/internal/fault"
)

// AllowedCommand is a program that the operator lets connectors start.
type AllowedCommand struct {
	Path string   // absolute and clean
	Args []string // exactly these; none: any
}

// AllowedCommands are all of them; none: no connector starts anything. They are the operator's, and no tenant's: what they do not
// name is started for nobody.
type AllowedCommands []AllowedCommand

// Allows tells whether a command may be started.
func (a AllowedCommands) Allows(c Command) bool { return a.Check(c) == nil }

// Check tells what of a command is not allowed; nothing where it may be started. Paths are compared as they are written: what a
// link leads to is the operator's word, too.
func (a AllowedCommands) Check(c Command) []fault.Field {
	if len(a) == 0 {
		return []fault.Field{{Location: "transport", Message: "No stdio command is allowed on this installation."}}
	}
	known := false
	for _, allowed := range a {
		if allowed.Path != c.Path {
			continue
		}
		known = true
		if len(allowed.Args) == 0 || slices.Equal(allowed.Args, c.Args) {
			return nil
		}
	}
	if known {
		return []fault.Field{{Location: "args", Message: fmt.Sprintf("%s may not be started with these arguments on this installation.", c.Path)}}
	}
	return []fault.Field{{Location: "command", Message: "This command is not allowed on this installation."}}
}
