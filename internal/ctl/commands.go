package ctl

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"patchbay/client"
)

// Commands are the common flags and the commands.
type Commands struct {
	Flags

	Connectors connectorCommands `cmd:"" help:"Manage connectors (MCP servers)."`
	Agents     agentCommands     `cmd:"" help:"Manage agents and their access."`
	Tokens     tokenCommands     `cmd:"" help:"Manage agent tokens."`
	Call       callCommand       `cmd:"" help:"Call a tool as an agent."`
	Calls      callsCommands     `cmd:"" help:"List, show and cancel calls."`
	Approvals  approvalCommands  `cmd:"" help:"Approve and deny waiting calls."`
	Access     accessCommands    `cmd:"" help:"Ask for an agent's access, and decide requests."`
	Changes    changeCommands    `cmd:"" help:"Review tool and skill changes."`
	SCIM       scimCommands      `cmd:"" name:"scim" help:"Let an identity provider manage members."`
	API        apiCommand        `cmd:"" name:"api" help:"Send any API request: members, invitations, API keys, webhooks, registries, settings, audit log."`
	Manifest   manifestCommand   `cmd:"" help:"Print the installation's configuration for patchbay apply."`
}

// Flags select the installation, its API key and the output format.
type Flags struct {
	URL     string `name:"url" env:"PATCHBAY_URL" placeholder:"URL" default:"http://127.0.0.1:8080" help:"The installation's URL (${default})."`
	KeyFile string `name:"key-file" placeholder:"FILE" help:"A file with the API key, instead of PATCHBAY_API_KEY."`
	Output  string `name:"output" short:"o" enum:"table,json" default:"table" help:"table or json (${default})."`
}

// keyVariable has the API key. There is no flag: other users can list processes.
const keyVariable = "PATCHBAY_API_KEY"

// maxKeyFile bounds a key's file, in bytes.
const maxKeyFile = 4 << 10

// World has a command's input, output and environment.
type World struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer // for questions
	Env func(name string) string
}

// AfterApply binds the session that the commands share.
func (f Flags) AfterApply(k *kong.Context, w World) error {
	k.Bind(&session{flags: f, world: w})
	return nil
}

type session struct {
	flags Flags
	world World
}

// openClient makes the client on demand: help needs no key.
func (s *session) openClient() (*client.Client, error) {
	key := s.world.Env(keyVariable)
	if s.flags.KeyFile != "" {
		file, err := os.Open(s.flags.KeyFile)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		text, err := io.ReadAll(io.LimitReader(file, maxKeyFile))
		if err != nil {
			return nil, err
		}
		key = string(text)
	}
	key = strings.TrimSpace(key)
	if key == "" {
		return nil, errors.New("No API key. Set PATCHBAY_API_KEY or use --key-file. Owners create keys in the dashboard under API keys.")
	}
	return client.New(s.flags.URL, key)
}

// readInput returns an argument's text: the file of @FILE, standard input of -, else the argument.
func (s *session) readInput(arg string) ([]byte, error) { return s.readInputUpTo(arg, 4<<20) }

// readInputUpTo is readInput with another bound in bytes.
func (s *session) readInputUpTo(arg string, limit int64) ([]byte, error) {
	from := s.world.In
	switch name, isFile := strings.CutPrefix(arg, "@"); {
	case isFile:
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		from = file
	case arg != "-":
		return []byte(arg), nil
	}
	text, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s is longer than %d MiB", arg, limit>>20)
	}
	return text, err
}
