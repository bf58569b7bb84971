package connectors

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a command.
const (
	MaxCommand = 4096 // bytes of a path
	MaxArgs    = 100
	MaxArg     = 4 << 10 // bytes of one
)

// Command is the program of a connector with transport stdio. The zero value is none.
type Command struct {
	Path string   // absolute
	Args []string // after the program's own name
	Dir  string   // working directory, absolute; empty: /
}

// IsZero reports whether there is no command.
func (c Command) IsZero() bool { return c.Path == "" && len(c.Args) == 0 && c.Dir == "" }

// Equal reports whether both start the same program in the same way.
func (c Command) Equal(d Command) bool {
	return c.Path == d.Path && c.Dir == d.Dir && slices.Equal(c.Args, d.Args)
}

// Program identifies the command with its arguments, the scope of an environment's secrets, as [Origin] is for
// a URL's. "": no command.
func (c Command) Program() string {
	if c.Path == "" {
		return ""
	}
	// Strings always marshal.
	b, _ := json.Marshal([]any{c.Path, append([]string{}, c.Args...), c.Dir})
	sum := sha256.Sum256(b)
	return "stdio:" + hex.EncodeToString(sum[:])
}

func (c Command) withCleanPaths() Command {
	c.Path, c.Dir = cleanPath(c.Path), cleanPath(c.Dir)
	return c
}

func cleanPath(p string) string {
	p = strings.TrimSpace(p)
	if !path.IsAbs(p) {
		return p
	}
	return path.Clean(p)
}

// checkStdio checks the fields of transport stdio, or that other transports have none. [AllowedCommands]
// decides whether the command may start.
func (c *validation) checkStdio(d Draft) {
	if d.Transport != TransportStdio {
		c.checkNoStdio(d)
		return
	}
	switch {
	case d.Command.Path == "":
		c.addField("command", "Enter a program's absolute path.")
	case !isFilePath(d.Command.Path) || d.Command.Path == "/":
		c.addField("command", "Enter an allowed program's absolute path, like /usr/bin/npx, without arguments.")
	}
	if d.Command.Dir != "" && !isFilePath(d.Command.Dir) {
		c.addField("cwd", "Must be an absolute path.")
	}
	c.args(d.Command.Args)
	c.checkEnv(d.Env)
	if d.URL != "" {
		c.addField("url", "Programs have no URL.")
	}
	if len(d.Headers) > 0 {
		c.addField("headers", "Programs have no headers.")
	}
	if d.Auth.Type != AuthNone {
		c.addField("auth.type", "Choose none, and set a program's secrets in env.")
	}
	if d.CredentialMode != CredentialShared {
		c.addField("credential_mode", "Choose shared: a program has one environment.")
	}
}

// checkNoStdio refuses the fields of a program.
func (c *validation) checkNoStdio(d Draft) {
	const only = "Only for stdio transport."
	if d.Command.Path != "" {
		c.addField("command", only)
	}
	if len(d.Command.Args) > 0 {
		c.addField("args", only)
	}
	if d.Command.Dir != "" {
		c.addField("cwd", only)
	}
	if len(d.Env) > 0 {
		c.addField("env", only)
	}
}

func (c *validation) args(args []string) {
	if len(args) > MaxArgs {
		c.addField("args", "At most %d arguments.", MaxArgs)
		return
	}
	for _, arg := range args {
		if len(arg) > MaxArg || !utf8.ValidString(arg) || strings.ContainsRune(arg, 0) {
			c.addField("args", "At most %d bytes per argument.", MaxArg)
			return
		}
	}
}

func isFilePath(p string) bool { return path.IsAbs(p) && len(p) <= MaxCommand && isPlainText(p, "") }
