package main

import (
	"os"
	"strings"

	"patchbay/internal/config"
	"patchbay/internal/connectors"
)

// allowedCommands are the programs that the operator lets connectors start.
func allowedCommands(server config.Server) connectors.AllowedCommands {
	var allowed connectors.AllowedCommands
	for _, entry := range server.Stdio {
		allowed = append(allowed, connectors.AllowedCommand{Path: entry[0], Args: entry[1:]})
	}
	return allowed
}

// programEnv is all that a program gets of our environment: PATH, HOME and LANG.
func programEnv() []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8"}
	for i, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if value := os.Getenv(name); value != "" {
			env[i] = name + "=" + value
		}
	}
	return env
}

// commands reports which programs connectors may start, and which of them others could replace.
func (e *examination) commands(server config.Server) {
	const what = "stdio commands"
	if len(server.Stdio) == 0 {
		e.ok(what, "none may be started")
		return
	}
	for _, entry := range server.Stdio {
		info, err := os.Stat(entry[0])
		switch {
		case err != nil:
			e.problem(what, "%s is allowed in PATCHBAY_STDIO_COMMANDS, and does not exist here.", entry[0])
		case info.IsDir() || info.Mode()&0o111 == 0:
			e.problem(what, "%s is allowed in PATCHBAY_STDIO_COMMANDS, and is no program.", entry[0])
		case info.Mode()&0o002 != 0:
			e.problem(what, "%s is allowed in PATCHBAY_STDIO_COMMANDS, and everybody on this machine may write to it: whoever does runs as Patchbay.", entry[0])
		case len(entry) == 1:
			e.ok(what, "%s with any arguments: every tenant's admins run it as Patchbay's own user", entry[0])
		default:
			e.ok(what, "%s with its %d arguments", entry[0], len(entry)-1)
		}
	}
}
