package clientconfig

import "patchbay/internal/connectors"

// Client is an MCP client with a file format of its own.
type Client string

// The clients. Generic is Patchbay's own format: all that an import accepts, readable by other clients.
const (
	Generic Client = "generic"
	Claude  Client = "claude"
	Cursor  Client = "cursor"
	VSCode  Client = "vscode"
)

// Clients are all clients.
var Clients = []Client{Generic, Claude, Cursor, VSCode}

// FileName is the client's name for the file.
func (c Client) FileName() string {
	switch c {
	case Claude:
		return ".mcp.json"
	case Cursor, VSCode:
		return "mcp.json"
	default:
		return "patchbay.json"
	}
}

// File lists servers for a client.
type File struct {
	MCPServers map[string]FileServer `json:"mcpServers,omitzero" doc:"By the connectors' slugs."`
	Servers    map[string]FileServer `json:"servers,omitzero" doc:"Of vscode, in place of mcpServers."`
	Inputs     []FileInput           `json:"inputs,omitempty" nullable:"false" doc:"Of vscode: the secrets that it asks for."`
}

// FileServer is one server of a file. The fields from Name on are in the generic form alone.
type FileServer struct {
	Type    string            `json:"type" doc:"http, sse or stdio, as clients write it."`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty" doc:"Secrets are placeholders."`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty" nullable:"false" doc:"Secrets are placeholders."`
	Env     map[string]string `json:"env,omitempty" doc:"Placeholders."`
	Dir     string            `json:"cwd,omitempty"`

	Name                     string    `json:"name,omitempty"`
	Description              string    `json:"description,omitempty"`
	Transport                string    `json:"transport,omitempty" doc:"Where type does not say it: http, for JSON replies alone."`
	CredentialMode           string    `json:"credential_mode,omitempty"`
	Auth                     *FileAuth `json:"auth,omitempty" doc:"How the server is signed in to, without secrets."`
	connectors.SettingsPatch           // without enabled
	Disabled                 bool      `json:"disabled,omitempty"`
}

// FileAuth is authentication without secrets.
type FileAuth struct {
	Type   string `json:"type"`
	Header string `json:"header,omitempty"`
	connectors.OAuthSettings
}

// FileInput is a value that VS Code asks for before it connects.
type FileInput struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	Description string `json:"description"`
	Password    bool   `json:"password"`
}
