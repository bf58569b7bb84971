package clientconfig_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

type authResult struct {
	auth        connectors.Auth
	secret      connectors.Secret
	placeholder string
	headers     map[string]string
}

func TestRead_CredentialsInHeaders(t *testing.T) {
	t.Parallel()
	bearer, basic := connectors.Auth{Type: connectors.AuthBearer}, connectors.Auth{Type: connectors.AuthBasic}
	key := func(header string) connectors.Auth {
		return connectors.Auth{Type: connectors.AuthAPIKey, Header: header}
	}
	none := connectors.Auth{Type: connectors.AuthNone}
	pair := base64.StdEncoding.EncodeToString([]byte("ann:pass:word"))
	for headers, want := range map[string]authResult{
		`{"Authorization": "Bearer tok-1"}`:                  {auth: bearer, secret: connectors.Secret{Token: "tok-1"}},
		`{"authorization": "bearer  tok-1"}`:                 {auth: bearer, secret: connectors.Secret{Token: "tok-1"}},
		`["Authorization: Bearer tok-1"]`:                    {auth: bearer, secret: connectors.Secret{Token: "tok-1"}},
		`{"Authorization": "Basic ` + pair + `"}`:            {auth: basic, secret: connectors.Secret{Username: "ann", Password: "pass:word"}},
		`{"Authorization": "tok-1"}`:                         {auth: key("Authorization"), secret: connectors.Secret{Key: "tok-1"}},
		`{"Authorization": "Token tok-1"}`:                   {auth: key("Authorization"), secret: connectors.Secret{Key: "Token tok-1"}},
		`{"X-Api-Key": "k-1"}`:                               {auth: key("X-Api-Key"), secret: connectors.Secret{Key: "k-1"}},
		`{"CONTEXT7_API_KEY": "k-1", "X-Team": "eu"}`:        {auth: key("CONTEXT7_API_KEY"), secret: connectors.Secret{Key: "k-1"}, headers: map[string]string{"X-Team": "eu"}},
		`{"X-Custom": "Bearer k-1"}`:                         {auth: key("X-Custom"), secret: connectors.Secret{Key: "Bearer k-1"}},
		`{"X-Team": "eu"}`:                                   {auth: none, headers: map[string]string{"X-Team": "eu"}},
		`{"Authorization": "Bearer ${LINEAR_TOKEN}"}`:        {auth: bearer, placeholder: "${LINEAR_TOKEN}"},
		`{"Authorization": "Bearer ${env:LINEAR_TOKEN}"}`:    {auth: bearer, placeholder: "${env:LINEAR_TOKEN}"},
		`{"Authorization": "Bearer ${input:linear-token}"}`:  {auth: bearer, placeholder: "${input:linear-token}"},
		`{"Authorization": "Bearer ${TOKEN:-sekret}"}`:       {auth: bearer, placeholder: "${TOKEN}"},
		`{"Authorization": "Bearer <YOUR_TOKEN>"}`:           {auth: bearer, placeholder: "a placeholder"},
		`{"Authorization": "Bearer YOUR_API_TOKEN"}`:         {auth: bearer, placeholder: "a placeholder"},
		`{"Authorization": "Bearer ********"}`:               {auth: bearer, placeholder: "a placeholder"},
		`{"Authorization": "Bearer "}`:                       {auth: bearer},
		`{"Authorization": "${AUTH}"}`:                       {auth: bearer, placeholder: "${AUTH}"},
		`{"Authorization": "Basic ${AUTH}"}`:                 {auth: basic, placeholder: "${AUTH}"},
		`{"X-Api-Key": "$MY_KEY"}`:                           {auth: key("X-Api-Key"), placeholder: "$MY_KEY"},
		`{"Content-Type": "application/json", "MCP-X": "1"}`: {auth: none},
	} {
		e := readOne(t, `{"url": "https://x.example/", "headers": `+headers+`}`)
		d := e.Draft()
		got := authResult{auth: d.Auth, secret: e.Secret, placeholder: e.Placeholder, headers: d.Headers}
		if len(got.headers) == 0 {
			got.headers = nil
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(authResult{}), cmp.Comparer(func(a, b secret.Text) bool { return a == b })); diff != "" {
			t.Errorf("%s: %s", headers, diff)
		}
		if problems := d.Normalized().Validate(); len(problems) > 0 {
			t.Errorf("%s: %v", headers, problems)
		}
	}
}

func TestRead_CredentialsWhereClientsPutThem(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]authResult{
		`"auth": {"type": "bearer", "token": "tok-1"}`:                             {auth: connectors.Auth{Type: connectors.AuthBearer}, secret: connectors.Secret{Token: "tok-1"}},
		`"auth": {"type": "bearer"}, "headers": {"Authorization": "Bearer tok-1"}`: {auth: connectors.Auth{Type: connectors.AuthBearer}, secret: connectors.Secret{Token: "tok-1"}},
		`"auth": {"type": "api_key"}, "headers": {"X-Key": "${K}"}`:                {auth: connectors.Auth{Type: connectors.AuthAPIKey, Header: "X-Key"}, placeholder: "${K}"},
		`"auth": {"type": "basic", "username": "ann", "password": "${P}"}`:         {auth: connectors.Auth{Type: connectors.AuthBasic}, placeholder: "${P}"},
		`"auth": {"type": "oauth2"}, "headers": {"Authorization": "Bearer ${T}"}`:  {auth: connectors.Auth{Type: connectors.AuthOAuth2}, placeholder: "${T}"},
		`"auth": "oauth"`: {auth: connectors.Auth{Type: connectors.AuthOAuth2}},
		`"auth": {"CLIENT_ID": "c-1", "CLIENT_SECRET": "cs-1", "scopes": ["read"]}`: {auth: connectors.Auth{Type: connectors.AuthOAuth2}, secret: connectors.Secret{ClientSecret: "cs-1"}},
		`"auth": {"CLIENT_ID": "${env:ID}", "CLIENT_SECRET": "${env:CS}"}`:          {auth: connectors.Auth{Type: connectors.AuthOAuth2}},
		`"oauth": {"clientId": "c-1", "callbackPort": 8080}`:                        {auth: connectors.Auth{Type: connectors.AuthOAuth2}},
		`"auth": null, "oauth": null`:                                               {auth: connectors.Auth{Type: connectors.AuthNone}},
	} {
		e := readOne(t, `{"url": "https://x.example/", `+document+`}`)
		got := authResult{auth: e.Draft().Auth, secret: e.Secret, placeholder: e.Placeholder}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(authResult{}), cmp.Comparer(func(a, b secret.Text) bool { return a == b })); diff != "" {
			t.Errorf("%s: %s", document, diff)
		}
	}
}

func TestRead_UnwrapsMCPRemote(t *testing.T) {
	t.Parallel()
	e := readOne(t, `{"mcpServers": {"n": {"command": "npx", "args": ["mcp-remote", "https://n.example/sse", "--header", "Authorization:${AUTH}", "--header", "X-Team: eu", "--header"],
		"env": {"AUTH": "Bearer tok-1"}}}}`)
	d := e.Draft()
	if d.URL != "https://n.example/sse" || d.Auth.Type != connectors.AuthBearer || e.Secret.Token != "tok-1" || d.Headers["X-Team"] != "eu" || len(e.Notices) != 1 {
		t.Errorf("%+v %v", d, e.Notices)
	}
}

func TestApply_PlaceholderKeepsAuthentication(t *testing.T) {
	t.Parallel()
	oauth := connectors.NewDraft()
	oauth.Auth.Type, oauth.OAuth.ClientID = connectors.AuthOAuth2, "c-1"
	before := oauth
	readOne(t, `{"url": "https://x.example/", "headers": {"Authorization": "Bearer ${T}"}}`).Apply(&oauth)
	if oauth.Auth != before.Auth || !oauth.OAuth.Equal(before.OAuth) {
		t.Errorf("now %+v", oauth)
	}
	readOne(t, `{"url": "https://x.example/", "headers": {"Authorization": "Bearer tok-1"}}`).Apply(&oauth)
	if oauth.Auth.Type != connectors.AuthBearer || !oauth.OAuth.IsZero() {
		t.Errorf("a token: %+v", oauth)
	}
}

func TestRead_InvalidHeaderIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, server := range []string{
		`{"url": "https://x.example/", "headers": ["Bearer sekret"]}`,
		`{"url": "https://x.example/", "headers": ["sekret"]}`,
		`{"url": "https://x.example/", "headers": {"Authorization: Bearer sekret": ""}}`,
		`{"url": "https://x.example/", "headers": {"Authorization: Bearer sekret": {}}}`,
		`{"url": "https://x.example/", "headers": {"": "sekret"}}`,
		`{"command": "npx", "args": ["mcp-remote", "https://x.example/", "--header", "Bearer sekret"]}`,
		`{"command": "/bin/x", "env": {"TOKEN=sekret": {}}}`,
	} {
		entries := readEntries(t, server)
		if said := fmt.Sprint(entries[0].Problems, entries[0].Notices); len(entries[0].Problems) == 0 || strings.Contains(said, "sekret") {
			t.Errorf("%s says %s", server, said)
		}
	}
}

func TestRead_PasswordOfSymbolsIsNoPlaceholder(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"a<b>c", "$ecret", "p{{a}}ss", "your", "xX", "…a"} {
		e := readOne(t, `{"url": "https://x.example/", "auth": {"type": "basic", "username": "ann", "password": "`+password+`"}}`)
		if e.Secret.Password.Reveal() != password {
			t.Errorf("%s is taken for a placeholder", password)
		}
	}
}

func TestAddress_OmitsSecretParts(t *testing.T) {
	t.Parallel()
	e := readOne(t, `{"url": "https://ann:sekret@x.example/mcp?apiKey=sekret&team=eu"}`)
	if got := e.Address(); got != "https://x.example/mcp" {
		t.Error(got)
	}
	if len(e.Notices) != 1 || !strings.Contains(e.Notices[0], "apiKey") || strings.Contains(e.Notices[0], "sekret") {
		t.Errorf("%v", e.Notices)
	}
}
