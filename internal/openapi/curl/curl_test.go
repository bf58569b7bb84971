package curl_test

import (
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/openapi"
	"patchbay/internal/openapi/curl"
	"patchbay/internal/openapi/httpcall"
)

func TestParse_Commands(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ command, method, url, media, body, names string }{
		"plain":     {`curl https://api.example.com/users`, "GET", "https://api.example.com/users", "", "", ""},
		"query":     {`curl 'https://api.example.com/users/42/posts/123e4567-e89b-12d3-a456-426614174000?limit=5&sort=a%20b'`, "GET", "https://api.example.com/users/{user_id}/posts/{post_id}?limit={limit}&sort={sort}", "", "", "user_id post_id limit sort"},
		"JSON":      {"curl -X POST https://api.example.com/notes \\\n -H 'Content-Type: application/json' \\\n -d '{\"text\":\"it'\\''s\",\"n\":1}'", "POST", "https://api.example.com/notes", "application/json", `{"text":"{text}","n":"{n}"}`, "text n"},
		"--json":    {`curl --json '{"a":true}' https://api.example.com/x`, "POST", "https://api.example.com/x", "application/json", `{"a":"{a}"}`, "a"},
		"list":      {`curl https://api.example.com/x -H 'content-type: application/json' --data-raw '[1,2]'`, "POST", "https://api.example.com/x", "application/json", `"{body}"`, "body"},
		"form":      {`curl https://api.example.com/x -d a=1 -d 'b=x y&a=2' --data-urlencode 'c=ü&'`, "POST", "https://api.example.com/x", "application/x-www-form-urlencoded", `{"a":"{a}","b":"{b}","c":"{c}"}`, "a b c"},
		"get":       {`curl -G https://api.example.com/x -d q=1`, "GET", "https://api.example.com/x?q={q}", "", "", "q"},
		"multipart": {`curl -F file=@a.png -F 'note=hi;type=text/plain' https://api.example.com/x`, "POST", "https://api.example.com/x", "multipart/form-data", `{"file":"{file}","note":"{note}"}`, "file note"},
		"upload":    {`curl -T a.bin https://api.example.com/x`, "PUT", "https://api.example.com/x", "application/octet-stream", "{file}", "file"},
		"ANSI":      {`curl 'https://api.example.com/x' -H 'content-type: application/json' --data-raw $'{"a":"it\'s \u00fc\\n"}'`, "POST", "https://api.example.com/x", "application/json", `{"a":"{a}"}`, "a"},
		"letters":   {`curl -sSLXPUT https://api.example.com/x | jq .`, "PUT", "https://api.example.com/x", "", "", ""},
		"text":      {`curl https://api.example.com/x -H 'Content-Type: text/plain' -d hello`, "POST", "https://api.example.com/x", "text/plain", "{body}", "body"},
		"no scheme": {`curl api.example.com/x`, "GET", "http://api.example.com/x", "", "", ""},
	} {
		c, err := curl.Parse(tc.command)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		made, err := c.Endpoint.Tool()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e := c.Endpoint; e.Method != tc.method || e.URL != tc.url || e.Media != tc.media || e.Body != tc.body {
			t.Errorf("%s: %+v", name, e)
		}
		if have := strings.Join(argumentNames(t, made), " "); have != tc.names {
			t.Errorf("%s: arguments %q, want %q", name, have, tc.names)
		}
	}
}

// argumentNames returns the arguments of a tool in their order.
func argumentNames(t *testing.T, made *openapi.Tool) (names []string) {
	t.Helper()
	var d struct {
		InputSchema struct{ Properties json.RawMessage }
	}
	if err := json.Unmarshal(made.Definition, &d); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(d.InputSchema.Properties)))
	for depth := 0; ; {
		token, err := decoder.Token()
		if err != nil {
			return names
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				depth++
			} else {
				depth--
			}
		case string:
			if depth == 1 {
				names = append(names, token)
			}
		}
	}
}

func TestParse_TakesCredentialsOut(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]curl.Credential{
		`curl -H 'Authorization: Bearer s3cret' https://api.example.com/x`:                   {Type: openapi.SchemeBearer, Value: "s3cret"},
		`curl -u me:s3cret https://api.example.com/x`:                                        {Type: openapi.SchemeBasic, Value: "me:s3cret"},
		`curl -H 'Authorization: Basic bWU6czNjcmV0' https://api.example.com/x`:              {Type: openapi.SchemeBasic, Value: "me:s3cret"},
		`curl https://me:s3cret@api.example.com/x`:                                           {Type: openapi.SchemeBasic, Value: "me:s3cret"},
		`curl -H 'X-API-Key: s3cret' https://api.example.com/x`:                              {Type: openapi.SchemeAPIKey, In: "header", Name: "X-API-Key", Value: "s3cret"},
		`curl 'https://api.example.com/x?api_key=s3cret&q=1'`:                                {Type: openapi.SchemeAPIKey, In: "query", Name: "api_key", Value: "s3cret"},
		`curl --oauth2-bearer s3cret https://api.example.com/x`:                              {Type: openapi.SchemeBearer, Value: "s3cret"},
		`curl -H 'PRIVATE-TOKEN: s3cret' -H 'Authorization: token s3cret' https://a.example`: {Type: openapi.SchemeAPIKey, In: "header", Name: "PRIVATE-TOKEN", Value: "s3cret"},
	} {
		c, err := curl.Parse(command)
		if err != nil || c.Credential == nil || *c.Credential != want {
			t.Errorf("%s: %+v, %v", command, c, err)
			continue
		}
		if made, err := c.Endpoint.Tool(); err != nil || strings.Contains(string(made.Definition)+string(made.Binding.JSON()), "s3cret") {
			t.Errorf("%s: the tool has the secret: %s, %v", command, made.Binding.JSON(), err)
		}
	}
}

// What may be secret is neither an example nor fixed in the tool, wherever the command has it.
func TestParse_KeepsNoSecret(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		`curl https://a.example/x -d client_secret=S3cretS3cretS3cret00 -d b=1`,
		`curl https://a.example/x --json '{"user":{"password":"S3cretS3cretS3cret00"}}'`,
		`curl https://a.example/x --json '{"users":[{"clientSecret":"S3cretS3cretS3cret00"}]}'`,
		`curl https://a.example/x -F token=S3cretS3cretS3cret00`,
		`curl 'https://a.example/x?sig=S3cretS3cretS3cret00'`,
		`curl 'https://a.example/x?code=S3cretS3cretS3cret00'`,
		`curl https://a.example/x -H 'X-Session: S3cretS3cretS3cret00'`,
		`curl https://a.example/x -H 'X-JWT: S3cretS3cretS3cret00'`,
		`curl https://hooks.a.example/services/T0/B0/S3cretS3cretS3cret00 --json '{"text":"hi"}'`,
		`curl https://api.a.example/bot123456:S3cretS3cretS3cret00/sendMessage --json '{"text":"hi"}'`,
		`curl https://api.a.example/bot123456:S3cretS3c-S3cretS3cret00/x`,
		`curl https://a.example/x -H 'apitoken: S3cret'`,
		`curl https://a.example/x -H 'AuthToken: S3cret'`,
		`curl https://a.example/x -H 'X-AppKey: S3cret'`,
		`curl https://a.example/x -H 'X-Pass: S3cret'`,
		`curl https://a.example/x -H 'X-PIN: S3cret'`,
		`curl https://a.example/x -H 'X-Credentials: S3cret'`,
		`curl https://a.example/x -H 'X-Auth-User: S3cret' -H 'X-Auth-Key: S3cret'`,
		`curl https://a.example/x -H 'X-Plex-Token: S3cret'`,
		`curl https://a.example/x -H 'X-Plex: S3cretS3cretS3cret00'`,
		`curl https://a.example/x -H 'X-Plex: Key id:S3cret/S3cretS3cret00='`,
		`curl https://a.example/x -H 'Content-Type: text/xml' -d '<password>S3cretS3cretS3cret00</password>'`,
	} {
		c, err := curl.Parse(command)
		if err != nil {
			t.Errorf("%s: %v", command, err)
			continue
		}
		if made, err := c.Endpoint.Tool(); err != nil || strings.Contains(c.Endpoint.Name+string(made.Definition)+string(made.Binding.JSON()), "S3cret") {
			t.Errorf("%s: the tool %s has the secret, %v:\n%s", command, c.Endpoint.Name, err, made.Definition)
		}
	}
}

func TestParse_KeepsOrdinaryHeaders(t *testing.T) {
	t.Parallel()
	for _, header := range []openapi.Header{
		{Name: "Accept", Value: "application/vnd.github.v3+json"}, {Name: "X-Version", Value: "2024-10-01"}, {Name: "If-Match", Value: `"33a64df551425fcc55e4d42a148795d9f25f89d4"`},
		{Name: "X-Tenant", Value: "123e4567-e89b-12d3-a456-426614174000"}, {Name: "If-Modified-Since", Value: "Wed, 21 Oct 2015 07:28:00 GMT"},
		{Name: "X-App", Value: "Example-Application-For-iOS-17"}, {Name: "Prefer", Value: "return=representation"},
	} {
		c, err := curl.Parse("curl https://a.example/x -H '" + header.Name + ": " + header.Value + "'")
		if err != nil || c.Credential != nil || len(c.Endpoint.Headers) != 1 || c.Endpoint.Headers[0] != header {
			t.Errorf("%v: %+v, %v", header, c, err)
		}
	}
}

func TestParse_Refuses(t *testing.T) {
	t.Parallel()
	for _, command := range []string{``, `wget https://a.example`, `curl`, `curl -X`, `curl 'https://a.example`, `curl -d @file https://a.example`, `curl https://a.example https://b.example`, `curl ftp://a.example`, `curl -X CONNECT https://a.example`, `curl 'https://{x}.example/'`, `curl https://S3cretS3cretS3cret00.a.example`, `curl -H`} {
		if c, err := curl.Parse(command); err == nil {
			t.Errorf("%q: %+v", command, c.Endpoint)
		}
	}
}

func TestParse_EndpointMakesTheSameRequest(t *testing.T) {
	t.Parallel()
	c, err := curl.Parse(`curl 'https://api.example.com/users/42?full=1' -H 'X-Team: a' -d '{"name":"x","age":3}' -H 'content-type: application/json'`)
	if err != nil {
		t.Fatal(err)
	}
	made, err := c.Endpoint.Tool()
	if err != nil {
		t.Fatal(err)
	}
	r, err := httpcall.Build(made.Binding, json.RawMessage(`{"user_id":"42","full":"1","name":"x","age":3}`))
	if err != nil || r.URL != "https://api.example.com/users/42?full=1" || string(r.Body) != `{"name":"x","age":3}` || r.Header.Get("X-Team") != "a" || r.Method != "POST" {
		t.Errorf("%+v, %v", r, err)
	}
}

// FuzzParse reads commands. What is read makes a tool.
func FuzzParse(f *testing.F) {
	f.Add(`curl -X POST 'https://api.example.com/a/1?b=c' -H 'X-A: b' -d '{"a":1}'`)
	f.Add(`curl $'https://a.example/\u0041' -F a=@b -u x:y`)
	f.Add(`curl https://a.example -d 'a=b&a=c' -G`)
	f.Fuzz(func(t *testing.T, command string) {
		c, err := curl.Parse(command)
		if err != nil {
			return
		}
		made, err := c.Endpoint.Tool()
		if err != nil || !json.Valid(made.Definition) || !strings.HasPrefix(made.Binding.Server, "http") {
			t.Errorf("%q: %+v, %v", command, c.Endpoint, err)
		}
	})
}
