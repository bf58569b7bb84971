package manifest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"patchbay/client"
	"patchbay/internal/manifest"
)

// FuzzRead checks that reading is deterministic, that its result is valid for the API, and that resolved
// secrets are in the secret fields alone and in no message.
func FuzzRead(f *testing.F) {
	const known = "f00d-from-a-variable"
	for _, seed := range []string{
		"connectors:\n  a: {name: A, url: https://a.example/mcp, auth: {type: bearer, token: {env: TOKEN}}}\nagents:\n  r: {connectors: {a: [x, y]}}\n",
		"connectors: {a: {transport: stdio, command: /bin/true, env: {A: {env: TOKEN}, B: {value: b}}, tools: {t: {calls_per_day: 3, tags: [x]}}}}",
		"agents: {r: {connectors: {a: {tools: all, credential: {username: u, password: {env: TOKEN}, x: y}}, b: null}}}",
		"connectors: {a: {auth: {type: bearer, token: TOKEN}, timeout_ms: .nan}, b: {auth: 1, env: [1]}, c: null}\nx: y\nz: y",
		"connectors: &a {a: {<<: *a}}", "a: &a [*a]", "? {a: b}\n: c", "--- 1\n--- 2", "connectors: {1: {2: 3}}", "agents: {a: {slug: b, name_limit: 1e3, approval: 2026-01-31}}", "connectors: !!binary AAAA", "",
	} {
		f.Add([]byte(seed))
	}
	from := manifest.Sources{Env: func(name string) string { return map[string]string{"TOKEN": known}[name] }}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Contains(text, []byte(known)) || bytes.Contains(text, []byte("file")) || bytes.ContainsAny(text, `\`) {
			return // opens no file of this machine
		}
		file, err := manifest.Read(text, from)
		again, errAgain := manifest.Read(text, from)
		if diff := cmp.Diff(file, again); diff != "" || fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Errorf("%q is read as something else the second time: %v, %v\n%s", text, err, errAgain, diff)
		}
		if err != nil && (strings.Contains(err.Error(), known) || utf8.Valid(text) && !utf8.ValidString(err.Error())) {
			t.Errorf("%q: %q", text, err)
		}
		if err != nil {
			return
		}
		for _, c := range file.Connectors {
			checkDocument(t, known, c.Fields, new(client.ConnectorCreate))
			auth, _ := c.Fields["auth"].(map[string]any)
			for _, secret := range []string{"token", "key", "password", "client_secret", "private_key", "username"} {
				if _, there := auth[secret]; there {
					t.Errorf("%q: %s stands among what is shown", text, secret)
				}
			}
			for _, tool := range c.Tools {
				checkDocument(t, known, tool, new(client.ToolPatch))
			}
		}
		for _, a := range file.Agents {
			checkDocument(t, known, a.Fields, new(client.AgentCreate))
			for _, g := range a.Grants {
				if g.Put.Tools.All == (g.Put.Tools.Names != nil) {
					t.Errorf("%q grants %+v", text, g.Put.Tools)
				}
			}
		}
	})
}

// checkDocument fails for a document that the API refuses, or that has the secret.
func checkDocument(t *testing.T, secret string, doc manifest.Document, form any) {
	t.Helper()
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(form); err != nil || bytes.Contains(text, []byte(secret)) {
		t.Errorf("%s is sent: %v", text, err)
	}
}
