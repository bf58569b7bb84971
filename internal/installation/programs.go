package installation

import (
	"patchbay/internal/config"
	"patchbay/internal/connectors"
)

// AllowedCommands are the programs that the operator lets connectors start.
func AllowedCommands(server config.Server) connectors.AllowedCommands {
	var allowed connectors.AllowedCommands
	for _, entry := range server.Stdio {
		allowed = append(allowed, connectors.AllowedCommand{
			Path: entry.Path, Args: entry.Args, Rule: connectors.AllowedArgs(entry.Rule), Dirs: entry.Dirs, Env: entry.Env,
		})
	}
	return allowed
}
