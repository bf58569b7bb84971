package manifest

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"patchbay/client"
)

// What is written of a connector and of an agent, where it is not empty. The rest are secrets, and what the installation has found out itself.
var (
	connectorFields = []string{
		"name", "description", "transport", "url", "headers", "credential_mode", "command", "args", "cwd", "timeout_ms", "retry_attempts", "sync_interval_s",
		"tool_changes", "listen", "max_definition_age_s", "calls_per_minute",
	}
	agentFields = []string{"name", "description", "approval", "calls_per_minute", "name_limit"}
)

// secretsOf are the secret parts of each way to sign in that a connector holds itself.
var secretsOf = map[string][]string{
	"bearer": {"token"}, "api_key": {"key"}, "basic": {"password"}, "client_credentials": {"client_secret"}, "private_key_jwt": {"private_key"},
}

// Write writes a file that says what the installation has. In place of each secret stands the variable that it is to come from.
func Write(w io.Writer, is State) error {
	var file struct {
		Connectors map[string]Document `yaml:"connectors,omitempty"`
		Agents     map[string]Document `yaml:"agents,omitempty"`
	}
	file.Connectors, file.Agents = map[string]Document{}, map[string]Document{}
	for slug, c := range is.Connectors {
		doc := writtenConnector(slug, c)
		if tools := writtenTools(is.Tools[slug]); len(tools) > 0 {
			doc["tools"] = tools
		}
		file.Connectors[slug] = doc
	}
	for slug, a := range is.Agents {
		doc := picked(documentOf(a), agentFields)
		if !a.Enabled {
			doc["enabled"] = false
		}
		doc["connectors"] = writtenGrants(is.Grants[slug])
		file.Agents[slug] = doc
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(file); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return enc.Close()
}

func picked(from Document, names []string) Document {
	doc := Document{}
	for _, name := range names {
		if v := from[name]; !empty(v) {
			doc[name] = whole(v)
		}
	}
	return doc
}

// whole is a number without a point, where it has none.
func whole(v any) any {
	if f, ok := v.(float64); ok && f == float64(int64(f)) {
		return int64(f)
	}
	return v
}

func writtenConnector(slug string, c client.Connector) Document {
	doc := picked(documentOf(c), connectorFields)
	if !c.Enabled {
		doc["enabled"] = false
	}
	if len(c.EnvNames) > 0 {
		env := Document{}
		for _, name := range c.EnvNames {
			env[name] = variable(slug, name)
		}
		doc["env"] = env
	}
	if c.Auth.Type == "none" {
		return doc
	}
	auth := documentOf(c.Auth)
	if c.CredentialMode == "shared" {
		for _, name := range secretsOf[c.Auth.Type] {
			auth[name] = variable(slug, name)
		}
		if c.Auth.Type == "basic" {
			auth["username"] = "FILL IN"
		}
	}
	doc["auth"] = map[string]any(auth)
	return doc
}

// variable is the name that a secret is looked for under: the connector's and its own. A slug is chosen by whoever made the connector, so that
// it must lead to no variable of anything else.
func variable(slug, name string) map[string]any {
	plain := func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}
	return map[string]any{"env": strings.Map(plain, "CONNECTOR_"+strings.ToUpper(slug)+"__"+strings.ToUpper(name))}
}

func writtenGrants(of map[string]client.AgentGrant) Document {
	doc := Document{}
	for slug, g := range of {
		var tools any = "all"
		if !g.Tools.All {
			tools = append([]string{}, slices.Sorted(slices.Values(g.Tools.Names))...)
		}
		if g.Approval == nil && len(g.TrustedTools) == 0 {
			doc[slug] = tools
			continue
		}
		put := Document{"tools": tools}
		if g.Approval != nil {
			put["approval"] = *g.Approval
		}
		if len(g.TrustedTools) > 0 {
			put["trusted_tools"] = g.TrustedTools
		}
		doc[slug] = put
	}
	return doc
}
