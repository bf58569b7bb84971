package manifest

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"patchbay/client"
)

// Fields to write if not empty. The others are secrets or determined by the installation.
var (
	connectorFields = commonFields(reflect.TypeFor[client.Connector](), reflect.TypeFor[client.ConnectorPatch](), "slug", "auth", "enabled")
	agentFields     = []string{"name", "description", "approval", "calls_per_minute", "name_limit", "tool_list"}
)

// commonFields are the JSON names that stand in both, without some.
func commonFields(a, b reflect.Type, without ...string) []string {
	var names []string
	for _, name := range jsonNames(a) {
		if slices.Contains(jsonNames(b), name) && !slices.Contains(without, name) {
			names = append(names, name)
		}
	}
	return names
}

func jsonNames(t reflect.Type) []string {
	var names []string
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// secretsByType are the secret fields of each auth type of a connector.
var secretsByType = map[string][]string{
	"bearer": {"token"}, "api_key": {"key"}, "basic": {"password"}, "client_credentials": {"client_secret"}, "private_key_jwt": {"private_key"},
}

// Write writes a manifest of the state, with a variable in place of each secret.
func Write(w io.Writer, state State) error {
	var file struct {
		Connectors map[string]Document `yaml:"connectors,omitempty"`
		Agents     map[string]Document `yaml:"agents,omitempty"`
	}
	file.Connectors, file.Agents = map[string]Document{}, map[string]Document{}
	for slug, c := range state.Connectors {
		doc := connectorDocument(slug, c, state.Accounts[slug])
		if c.Kind == kindHTTP {
			addAPI(doc, state.APIs[slug])
		}
		if tools := toolDocuments(state.Tools[slug]); len(tools) > 0 {
			doc["tools"] = tools
		}
		file.Connectors[slug] = doc
	}
	for slug, a := range state.Agents {
		doc := pickFields(toDocument(a), agentFields)
		if !a.Enabled {
			doc["enabled"] = false
		}
		doc["connectors"] = grantDocuments(state.Grants[slug])
		file.Agents[slug] = doc
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(file); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return enc.Close()
}

func pickFields(from Document, names []string) Document {
	doc := Document{}
	for _, name := range names {
		if v := from[name]; !isEmpty(v) {
			doc[name] = toInteger(v)
		}
	}
	return doc
}

func toInteger(v any) any {
	if f, ok := v.(float64); ok && f == float64(int64(f)) {
		return int64(f)
	}
	return v
}

func connectorDocument(slug string, c client.Connector, accounts []string) Document {
	doc := pickFields(toDocument(c), connectorFields)
	if !c.Enabled {
		doc["enabled"] = false
	}
	if len(c.EnvNames) > 0 {
		env := Document{}
		for _, name := range c.EnvNames {
			env[name] = secretVariable(slug, name)
		}
		doc["env"] = env
	}
	if c.Auth.Type == "none" {
		return doc
	}
	auth := toDocument(c.Auth)
	if c.CredentialMode == "shared" {
		if len(accounts) > 0 && !slices.Equal(accounts, []string{defaultAccount}) {
			doc["credentials"] = accountDocuments(slug, c.Auth.Type, accounts)
		} else {
			addSecretVariables(auth, slug, "", c.Auth.Type)
		}
	}
	doc["auth"] = map[string]any(auth)
	return doc
}

func accountDocuments(slug, authType string, accounts []string) Document {
	doc := Document{}
	for _, account := range accounts {
		entry := Document{}
		addSecretVariables(entry, slug, account+"__", authType)
		doc[account] = entry
	}
	return doc
}

func addSecretVariables(doc Document, slug, prefix, authType string) {
	for _, name := range secretsByType[authType] {
		doc[name] = secretVariable(slug, prefix+name)
	}
	if authType == "basic" {
		doc["username"] = "FILL IN"
	}
}

// secretVariable names the variable of a secret by connector and field. The fixed prefix keeps a slug from
// naming any other variable.
func secretVariable(slug, name string) map[string]any {
	plain := func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}
	return map[string]any{"env": strings.Map(plain, "CONNECTOR_"+strings.ToUpper(slug)+"__"+strings.ToUpper(name))}
}

func grantDocuments(grants map[string]client.AgentGrant) Document {
	doc := Document{}
	for slug, g := range grants {
		var tools any = "all"
		if !g.Tools.All {
			tools = append([]string{}, slices.Sorted(slices.Values(g.Tools.Names))...)
		}
		put := Document{"tools": tools}
		if usual := usualItems(g.Tools.All); g.Prompts != usual.Prompts || g.Resources != usual.Resources {
			put["prompts"], put["resources"] = g.Prompts, g.Resources
		}
		if g.Approval != nil {
			put["approval"] = *g.Approval
		}
		switch {
		case len(g.Accounts) > 1:
			put["accounts"] = g.Accounts
		case g.Account != nil:
			put["account"] = *g.Account
		}
		if len(g.TrustedTools) > 0 {
			put["trusted_tools"] = g.TrustedTools
		}
		if ends := canonicalEnds(&g.Ends); ends.Until != nil || len(ends.Tools) > 0 {
			put["ends"] = toDocument(ends)
		}
		if len(g.PinnedTools) > 0 {
			put["pinned_tools"] = g.PinnedTools
		}
		if len(g.Shaping) > 0 {
			put["shaping"] = shapingDocuments(g.Shaping)
		}
		if doc[slug] = put; len(put) == 1 {
			doc[slug] = tools
		}
	}
	return doc
}

// usualItems are the prompts and resources of a new grant that does not choose them.
func usualItems(allTools bool) client.AgentGrant {
	if allTools {
		return client.AgentGrant{Prompts: "listed", Resources: "listed_and_templates"}
	}
	return client.AgentGrant{Prompts: "none", Resources: "none"}
}
