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

// Command is the program that a connector of transport stdio starts. The zero value is none.
type Command struct {
	Path string   // absolute
	Args []string // after the program's own name
	Dir  string   // where it works, absolute; empty: /
}

// IsZero tells whether there is no command.
func (c Command) IsZero() bool { return c.Path == "" && len(c.Args) == 0 && c.Dir == "" }

// Equal tells whether both start the same program in the same way.
func (c Command) Equal(d Command) bool {
	return c.Path == d.Path && c.Dir == d.Dir && slices.Equal(c.Args, d.Args)
}

// Program identifies what is started, its arguments included: what an environment was given for, and the only thing that it
// is given to. It is for a command what [Origin] is for a URL. Empty: there is none.
func (c Command) Program() string {
	if c.Path == "" {
		return ""
	}
	// It cannot fail: these are texts.
	b, _ := json.Marshal([]any{c.Path, append([]string{}, c.Args...), c.Dir})
	sum := sha256.Sum256(b)
	return "stdio:" + hex.EncodeToString(sum[:])
}

// normalized cleans the paths, so that they are compared and used as one and the same text.
func (c Command) normalized() Command {
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

// stdio checks what goes with the transport stdio, and that nothing of it stands with another one. Whether a command may be
// started here is for [AllowedCommands] to say.
func (c *check) stdio(d Draft) {
	if d.Transport != TransportStdio {
		c.noStdio(d)
		return
	}
	switch {
	case d.Command.Path == "":
		c.refuse("command", "A command is needed: the absolute path of a program.")
	case !fileName(d.Command.Path) || d.Command.Path == "/":
		c.refuse("command", "A command is the absolute path of a program that the operator allows, as /usr/bin/npx. Its arguments stand apart.")
	}
	if d.Command.Dir != "" && !fileName(d.Command.Dir) {
		c.refuse("cwd", "The folder is an absolute path.")
	}
	c.args(d.Command.Args)
	c.env(d.Env)
	if d.URL != "" {
		c.refuse("url", "A program has no URL.")
	}
	if len(d.Headers) > 0 {
		c.refuse("headers", "A program gets no headers.")
	}
	if d.Auth.Type != AuthNone {
		c.refuse("auth.type", "A program takes its secrets from its environment: choose none here, and set them in env.")
	}
	if d.CredentialMode != CredentialShared {
		c.refuse("credential_mode", "A program has one environment for all agents: choose shared.")
	}
}

// noStdio refuses what only a program takes.
func (c *check) noStdio(d Draft) {
	const only = "Only transport stdio takes this."
	if d.Command.Path != "" {
		c.refuse("command", only)
	}
	if len(d.Command.Args) > 0 {
		c.refuse("args", only)
	}
	if d.Command.Dir != "" {
		c.refuse("cwd", only)
	}
	if len(d.Env) > 0 {
		c.refuse("env", only)
	}
}

func (c *check) args(args []string) {
	if len(args) > MaxArgs {
		c.refuse("args", "There are at most %d arguments.", MaxArgs)
		return
	}
	for _, arg := range args {
		if len(arg) > MaxArg || !utf8.ValidString(arg) || strings.ContainsRune(arg, 0) {
			c.refuse("args", "An argument is a text of at most %d bytes.", MaxArg)
			return
		}
	}
}

// fileName tells whether p can be the path of a file on this system.
func fileName(p string) bool { return path.IsAbs(p) && len(p) <= MaxCommand && plainText(p, "") }
