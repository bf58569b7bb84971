package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/client"
	"patchbay/internal/manifest"
)

func testSources(t *testing.T) manifest.Sources {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"token": "  from-a-file\n", "empty": "\n", "long": strings.Repeat("x", 70<<10)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return manifest.Sources{Dir: dir, Env: func(name string) string { return map[string]string{"TOKEN": "from-a-variable\n"}[name] }}
}

func TestRead_ManifestWithSecrets(t *testing.T) {
	t.Parallel()
	got, err := manifest.Read([]byte(`
connectors:
  linear:
    name: Linear
    url: https://mcp.linear.app/mcp
    auth: {type: bearer, token: {file: token}}
    timeout_ms: 30000
    tools:
      create_issue: {calls_per_minute: 30, calls_per_day: 500}
      delete_issue: {enabled: false}
  shell:
    transport: stdio
    command: /usr/bin/tool
    env: {KEY: {env: TOKEN}, LEVEL: {value: info}}
agents:
  robot:
    approval: auto
    connectors:
      linear: all
      shell: [run, stop]
      github:
        tools: [search]
        approval: always_ask
        trusted_tools: [search]
        credential: {username: ann, password: {env: TOKEN}}
  guest:
`), testSources(t))
	if err != nil {
		t.Fatal(err)
	}
	want := manifest.File{
		Connectors: map[string]manifest.Connector{
			"linear": {
				Fields:  manifest.Document{"name": "Linear", "url": "https://mcp.linear.app/mcp", "timeout_ms": 30000.0, "auth": map[string]any{"type": "bearer"}},
				Secrets: map[string]string{"token": "from-a-file"},
				Tools: map[string]manifest.Document{
					"create_issue": {"calls_per_minute": 30.0, "calls_per_day": 500.0}, "delete_issue": {"enabled": false},
				},
			},
			"shell": {Fields: manifest.Document{"transport": "stdio", "command": "/usr/bin/tool"}, Env: map[string]string{"KEY": "from-a-variable", "LEVEL": "info"}},
		},
		Agents: map[string]manifest.Agent{
			"robot": {
				Fields: manifest.Document{"approval": "auto"},
				Grants: map[string]manifest.Grant{
					"linear": {Put: client.AgentGrantPut{Tools: client.ToolSet{All: true}}},
					"shell":  {Put: client.AgentGrantPut{Tools: client.ToolSet{Names: []string{"run", "stop"}}}},
					"github": {
						Put:     client.AgentGrantPut{Tools: client.ToolSet{Names: []string{"search"}}, Approval: new("always_ask"), TrustedTools: []string{"search"}},
						Secrets: map[string]string{"username": "ann", "password": "from-a-variable"},
					},
				},
			},
			"guest": {Fields: manifest.Document{}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRead_ReportsAllErrors(t *testing.T) {
	t.Parallel()
	from := testSources(t)
	for text, want := range map[string]string{
		"":                                 "the file is empty",
		"connectors: [a":                   "not valid YAML",
		"a: 1\n---\nb: 1":                  "more than one document",
		"connectors: {}\nservers: {}":      `unknown key "servers": a manifest has only`,
		"connectors: [a]":                  "connectors: must be a mapping",
		"[]":                               "must be a mapping",
		"connectors: {a: {}, a: {}}":       "already defined",
		"connectors: {a: {uri: x}}":        `connectors.a: unknown field "uri"`,
		"connectors: {a: {slug: b}}":       "connectors.a.slug: must not be set: the key of the entry is the slug",
		"connectors: {a: {timeout_ms: x}}": "connectors.a: timeout_ms can't be a string",
		"connectors: {a: {auth: {}}}":      "connectors.a.auth.type: is required",
		"connectors: {a: {tools: {b: {add_tags: [c]}}}}":                          "connectors.a.tools.b.add_tags: is not supported: list all tags under tags",
		"connectors: {a: {tools: {b: {limit: 1}}}}":                               `connectors.a.tools.b: unknown field "limit"`,
		"connectors: {a: {tools: {b: {calls_per_day: often}}}}":                   "connectors.a.tools.b: calls_per_day can't be a string",
		"connectors: {a: {env: {B: text}}}":                                       "connectors.a.env.B: secrets can't be in this file",
		"connectors: {a: {auth: {type: bearer, token: s3cret}}}":                  "connectors.a.auth.token: secrets can't be in this file",
		"connectors: {a: {auth: {type: bearer, token: {value: s3cret}}}}":         "connectors.a.auth.token: secrets can't be in this file",
		"connectors: {a: {auth: {type: bearer, token: {env: A, file: B}}}}":       "connectors.a.auth.token: secrets can't be in this file",
		"connectors: {a: {auth: {type: bearer, token: {env: NOT_THERE}}}}":        "the variable NOT_THERE is not set",
		"connectors: {a: {auth: {type: bearer, token: {env: PATCHBAY_API_KEY}}}}": "can't be sent to servers",
		"connectors: {a: {auth: {type: bearer, token: {env: TOKEN}}}}":            "connectors.a.url: is required with a secret",
		"connectors: {a: {auth: {type: bearer, token: {file: not-there}}}}":       "no such file",
		"connectors: {a: {auth: {type: bearer, token: {file: empty}}}}":           "empty is empty",
		"connectors: {a: {auth: {type: bearer, token: {file: long}}}}":            "longer than 64 KiB",
		"connectors: {a: {auth: {type: bearer, tokens: {env: TOKEN}}}}":           `unknown field "tokens"`,
		"agents: {a: {connectors: {b: some}}}":                                    `"some" is neither "all" nor a list`,
		"agents: {a: {connectors: {b: }}}":                                        `agents.a.connectors.b.tools: must be "all"`,
		"agents: {a: {connectors: {b: {tools: all, tool: x}}}}":                   `agents.a.connectors.b: unknown field "tool"`,
		"agents: {a: {connectors: {b: {tools: all, credential: {x: 1}}}}}":        "agents.a.connectors.b.credential.x: is not a field of a credential",
		"agents: {a: {connectors: {b: {tools: all, credential: {token: x}}}}}":    "agents.a.connectors.b.credential.token: secrets can't be in this file",

		"connectors: {a: {url: 'https://a.example', auth: {type: bearer}, credentials: {A b: {token: {env: TOKEN}}}}}":                                        "connectors.a.credentials.A b: is not a name of an account",
		"connectors: {a: {url: 'https://a.example', auth: {type: bearer}, credentials: {}}}":                                                                  "connectors.a.credentials: must name an account",
		"connectors: {a: {url: 'https://a.example', auth: {type: bearer}, credentials: {b: {}, b: {}}}}":                                                      "already defined",
		"connectors: {a: {url: 'https://a.example', auth: {type: bearer}, credentials: {b: {}, default: {}}}}":                                                "connectors.a.credentials.default: must be the only account",
		"connectors: {a: {url: 'https://a.example', auth: {type: bearer, token: {env: TOKEN}}, credentials: {b: {}}}}":                                        "connectors.a.credentials: must not be with a secret in auth",
		"connectors: {a: {url: 'https://a.example', credentials: {b: {}}}}":                                                                                   "connectors.a.auth: is required with credentials",
		"agents: {a: {connectors: {b: {tools: all, credential: {}, credentials: {b: {}}}}}}":                                                                  "agents.a.connectors.b.credential: must not be with credentials",
		"agents: {a: {connectors: {b: {tools: all, account: c, credentials: {b: {}}}}}}":                                                                      `agents.a.connectors.b.account: "c" is not in credentials`,
		"{connectors: {b: {url: 'https://a.example', auth: {type: bearer}, credentials: {b: {}}}}, agents: {a: {connectors: {b: {tools: all, account: c}}}}}": `agents.a.connectors.b.account: "c" is not in credentials`,
	} {
		_, err := manifest.Read([]byte(text), from)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: the error repeats the secret: %v", text, err)
		}
	}
	_, err := manifest.Read([]byte("connectors: {a: {uri: x}, b: {uri: x}}"), from)
	if err == nil || !strings.Contains(err.Error(), "connectors.a") || !strings.Contains(err.Error(), "connectors.b") {
		t.Errorf("not all that is wrong is told: %v", err)
	}
}

func TestRead_WorkloadTokenIsPartOfTheSecret(t *testing.T) {
	t.Parallel()
	got, err := manifest.Read([]byte("connectors: {a: {url: https://a.example/mcp, auth: {type: client_credentials, client_id: x, workload_token: billing}}}"), testSources(t))
	if err != nil {
		t.Fatal(err)
	}
	if c := got.Connectors["a"]; c.Secrets["workload_token"] != "billing" || c.Fields["auth"].(map[string]any)["workload_token"] != nil {
		t.Errorf("%+v", c)
	}
}
