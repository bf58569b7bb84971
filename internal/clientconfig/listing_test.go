package clientconfig_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// registryServer is one item of GET /v0.1/servers.
func registryServer(name, rest string) string {
	return `{"server": {"$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json", "name": "` + name + `", "description": "Does things.", "version": "1.0.0", ` + rest + `},
		"_meta": {"io.modelcontextprotocol.registry/official": {"status": "active", "publishedAt": "2026-01-01T00:00:00Z", "isLatest": true}}}`
}

func remoteServer(rest string) string {
	return `"remotes": [{"type": "streamable-http", "url": "https://weather.example.com/mcp"` + rest + `}]`
}

func TestListing_ReadsEveryShape(t *testing.T) {
	t.Parallel()
	item := registryServer("com.example/weather", `"title": "Weather", `+remoteServer(""))
	bare := `{"name": "com.example/weather", "title": "Weather", "description": "Does things.", "version": "1", ` + remoteServer("") + `}`
	for name, document := range map[string]string{
		"a list": `{"servers": [` + item + `], "metadata": {"nextCursor": "x", "count": 1}}`, "an array": `[` + item + `]`, "one": item, "server.json": bare,
	} {
		e := readOne(t, document)
		d := e.Draft()
		if !e.Listed || e.Key != "com.example/weather" || e.Slug != "weather" || d.Name != "Weather" || d.Description != "Does things." || d.URL != "https://weather.example.com/mcp" ||
			d.Transport != connectors.TransportStreamableHTTP || d.Auth.Type != connectors.AuthNone || e.Summary != "Does things." {
			t.Errorf("%s: %+v %+v", name, e, d)
		}
		again := readOne(t, string(e.Document))
		if diff := cmp.Diff(d, again.Draft()); diff != "" {
			t.Errorf("%s: what is carried along says something else: %s", name, diff)
		}
	}
	if e := readOne(t, `{"server": {"url": "https://x.example/mcp"}}`); e.Listed || e.Key != "server" {
		t.Errorf("a client's server of that name is taken for a registry's: %+v", e)
	}
}

func TestListing_HeadersBecomeCredentials(t *testing.T) {
	t.Parallel()
	for headers, want := range map[string]string{
		`[{"name": "Authorization", "value": "Bearer {token}", "isRequired": true, "isSecret": true, "variables": {"token": {"isSecret": true}}}]`: "bearer  ${token}",
		`[{"name": "Authorization", "isRequired": true, "isSecret": true}]`:                                                                        "bearer  ${Authorization}",
		`[{"name": "Authorization", "value": "Bearer abc", "isRequired": true, "isSecret": true}]`:                                                 "bearer  ${Authorization}",
		`[{"name": "X-Thing", "isRequired": true, "isSecret": true}]`:                                                                              "api_key X-Thing ${X-Thing}",
		`[{"name": "X-Api-Key", "value": "{k}", "isRequired": true}]`:                                                                              "api_key X-Api-Key ${k}",
		`[{"name": "X-Api-Key", "isSecret": true}]`:                                                                                                "none  ",
		`[{"name": "X-Team", "value": "eu"}]`:                                                                                                      "none   X-Team=eu",
		`[{"name": "X-Team", "value": "{team}", "isRequired": true}, {"name": "X-Region", "default": "eu"}]`:                                       "none   X-Region=eu",
	} {
		e := readOne(t, registryServer("com.example/weather", remoteServer(`, "headers": `+headers)))
		d := e.Draft()
		got := fmt.Sprintf("%s %s %s", d.Auth.Type, d.Auth.Header, e.Placeholder)
		for name, value := range d.Headers {
			got += " " + name + "=" + value
		}
		if got != want || !e.Secret.Empty() {
			t.Errorf("%s: %q, want %q", headers, got, want)
		}
		if again := readOne(t, string(e.Document)); again.Draft().Auth != d.Auth || again.Placeholder != e.Placeholder {
			t.Errorf("%s: carried along it is %+v", headers, again.Draft().Auth)
		}
	}
}

func TestListing_ExpandsKnownVariables(t *testing.T) {
	t.Parallel()
	template := func(variables string) string {
		return registryServer("com.example/weather", `"remotes": [{"type": "stdio"}, {"type": "sse", "url": "https://{host}/sse", "variables": `+variables+`}]`)
	}
	if d := readOne(t, template(`{"host": {"default": "api.example.com"}}`)).Draft(); d.URL != "https://api.example.com/sse" || d.Transport != connectors.TransportSSE {
		t.Errorf("%+v", d)
	}
	for _, variables := range []string{`{}`, `{"host": {"default": "s3cret", "isSecret": true}}`} {
		e := readEntries(t, template(variables))[0]
		if len(e.Problems) == 0 || !strings.Contains(e.Problems[0].Message, "Replace ${host} with the address.") {
			t.Errorf("%s: %+v", variables, e)
		}
	}
}

func TestListing_HostileServerIsRefused(t *testing.T) {
	t.Parallel()
	at := func(url string) string {
		return registryServer("com.example/x", `"remotes": [{"type": "streamable-http", "url": "`+url+`"}]`)
	}
	long := strings.Repeat("x", 3000)
	for document, want := range map[string]string{
		at("javascript:alert(1)"):          "url",
		at("file:///etc/passwd"):           "url",
		at("https://u:p@x.example/"):       "url",
		at("https://x.example/#f"):         "url",
		at("https://" + long + ".example"): "url",
		registryServer("com.example/x", `"packages": [{"registryType": "npm", "identifier": "evil"}]`):                                                                               "remotes",
		registryServer("com.example/x", `"remotes": {}, "packages": []`):                                                                                                             "server",
		registryServer("com.example/x", `"title": "a\u202eb", `+remoteServer("")):                                                                                                    "name",
		registryServer("com.example/"+long, remoteServer("")):                                                                                                                        "name",
		registryServer("com.example/x", `"title": "`+long+`", `+remoteServer("")):                                                                                                    "name",
		registryServer("com.example/x", remoteServer(`, "headers": [{"name": "X-A: b\r\nHost", "isRequired": true, "value": "c"}]`)):                                                 "headers",
		registryServer("com.example/x", remoteServer(`, "headers": [{"name": "Cookie", "isRequired": true, "isSecret": true}]`)):                                                     "headers.Cookie",
		registryServer("com.example/x", remoteServer(`, "headers": [{"name": "X-A", "isRequired": true, "isSecret": true}, {"name": "X-B", "isRequired": true, "isSecret": true}]`)): "headers.X-B",
		`{"server": {"name": "com.example/x", ` + remoteServer("") + `}, "_meta": {"io.modelcontextprotocol.registry/official": {"status": "deleted"}}}`:                             "server",
	} {
		entries := readEntries(t, document)
		d := entries[0].Draft().Normalized()
		problems := slices.Concat(entries[0].Problems, d.Validate())
		if !entries[0].Listed || len(problems) == 0 || problems[0].Location != want {
			t.Errorf("%s: %v, want %s", document[:min(len(document), 300)], problems, want)
		}
	}
	html := readOne(t, registryServer("com.example/x", `"title": "<b>x</b>", `+remoteServer("")))
	if html.Draft().Name != "<b>x</b>" {
		t.Errorf("a name is text, and stays what it is: %q", html.Draft().Name)
	}
}

func TestListing_EqualTitlesUseFullNames(t *testing.T) {
	t.Parallel()
	entries := readEntries(t, `{"servers": [`+registryServer("com.a/weather", remoteServer(""))+`,`+registryServer("com.b/weather", remoteServer(""))+`,`+registryServer("com.b/weather", remoteServer(""))+`]}`)
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprint(e.Slug, " ", e.Draft().Name, " ", len(e.Problems)))
	}
	if diff := cmp.Diff([]string{"weather weather 0", "com-b-weather weather (com.b) 0", "com-b-weather weather (com.b) 1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestListing_IgnoresOlderVersions(t *testing.T) {
	t.Parallel()
	old := strings.Replace(registryServer("com.example/weather", remoteServer("")), `"isLatest": true`, `"isLatest": false`, 1)
	if got := readEntries(t, `{"servers": [`+old+`]}`); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	servers, next, err := clientconfig.ReadPage([]byte(`{"servers": [` + old + `, 7, ` + registryServer("com.example/weather", `"packages": [{"x": "`+strings.Repeat("x", 9000)+`"}], `+remoteServer("")) + `], "metadata": {"nextCursor": "c2"}}`))
	if err != nil || next != "c2" || len(servers) != 1 || len(servers[0]) > 400 || !json.Valid(servers[0]) {
		t.Errorf("%d servers, next %q, %v", len(servers), next, err)
	}
	for _, page := range []string{"", "[]", "{}", `{"servers": null}`, `{"servers": {}}`, "<html>"} {
		if _, _, err := clientconfig.ReadPage([]byte(page)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", page, err)
		}
	}
}
