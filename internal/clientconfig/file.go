package clientconfig

import (
	"bytes"
	"encoding/json"
	"fmt"

	"patchbay/internal/connectors"
)

// Client is an MCP client with a file format of its own.
type Client string

// The clients. Generic is Patchbay's own format: all that an import accepts, readable by other clients.
const (
	Generic  Client = "generic"
	Claude   Client = "claude"
	Cursor   Client = "cursor"
	VSCode   Client = "vscode"
	Windsurf Client = "windsurf"
	Gemini   Client = "gemini"
	Zed      Client = "zed"
	Codex    Client = "codex"
)

// Clients are all clients.
var Clients = []Client{Generic, Claude, Cursor, VSCode, Windsurf, Gemini, Zed, Codex}

// speaksSSE reports whether the client can connect to a server of the HTTP+SSE transport.
func (c Client) speaksSSE() bool { return c != Zed && c != Codex }

// infersTransport reports whether the client finds the transport by the fields of a server.
func (c Client) infersTransport() bool { return c == Windsurf || c == Gemini || c == Zed }

// FileName is the client's name for the file.
func (c Client) FileName() string {
	switch c {
	case Claude:
		return ".mcp.json"
	case Cursor, VSCode:
		return "mcp.json"
	case Windsurf:
		return "mcp_config.json"
	case Gemini, Zed:
		return "settings.json"
	case Codex:
		return "config.toml"
	default:
		return "patchbay.json"
	}
}

// File lists servers for a client.
type File struct {
	MCPServers     map[string]FileServer `json:"mcpServers,omitzero" doc:"By connector slug."`
	Servers        map[string]FileServer `json:"servers,omitzero" doc:"For vscode, instead of mcpServers."`
	Inputs         []FileInput           `json:"inputs,omitempty" nullable:"false" doc:"For vscode: secrets to ask for."`
	ContextServers map[string]FileServer `json:"context_servers,omitzero" doc:"For zed, instead of mcpServers."`
	TOML           string                `json:"toml,omitempty" doc:"For codex, instead of mcpServers: the file as TOML."`
}

// Text returns the file as its client reads it.
func (f File) Text() ([]byte, error) {
	if f.TOML != "" {
		return []byte(f.TOML), nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(f); err != nil {
		return nil, fmt.Errorf("encode a client's file: %w", err)
	}
	return out.Bytes(), nil
}

// FileServer is one server of a file. The fields from Name on are in the generic form alone.
type FileServer struct {
	Type      string            `json:"type,omitempty" doc:"http, sse or stdio. For windsurf, gemini and zed only sse."`
	URL       string            `json:"url,omitempty"`
	ServerURL string            `json:"serverUrl,omitempty" doc:"For windsurf, instead of url."`
	HTTPURL   string            `json:"httpUrl,omitempty" doc:"For gemini, instead of url, unless the transport is sse."`
	Headers   map[string]string `json:"headers,omitempty" doc:"Secrets are placeholders."`
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty" nullable:"false" doc:"Secrets are placeholders."`
	Env       map[string]string `json:"env,omitempty" doc:"Placeholders."`
	Dir       string            `json:"cwd,omitempty"`

	Name                     string    `json:"name,omitempty"`
	Description              string    `json:"description,omitempty"`
	Transport                string    `json:"transport,omitempty" doc:"If type does not state it: http, for JSON-only replies."`
	Tags                     []string  `json:"tags,omitempty" nullable:"false"`
	CredentialMode           string    `json:"credential_mode,omitempty"`
	Auth                     *FileAuth `json:"auth,omitempty" doc:"The authentication, without secrets."`
	connectors.SettingsPatch           // without enabled
	Disabled                 bool      `json:"disabled,omitempty"`
	FileAPI
}

// FileAuth is authentication without secrets.
type FileAuth struct {
	Type   string `json:"type"`
	Header string `json:"header,omitempty"`
	In     string `json:"in,omitempty"`
	connectors.OAuthSettings
}

// FileInput is a value that VS Code asks for before it connects.
type FileInput struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	Description string `json:"description"`
	Password    bool   `json:"password"`
}
