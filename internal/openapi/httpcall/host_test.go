package httpcall_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
)

// hostileValues would lead to another host where a template took them as they are.
var hostileValues = []string{
	"evil.example", "evil.example/", "@evil.example", ":pw@evil.example/", "//evil.example", "/\\evil.example", "https://evil.example", "http://api.example.com", ":8080", ".evil.example",
	"?x#y", "#@evil.example/", "%2F%2Fevil.example", "%40evil.example", "\r\nHost: evil.example", " evil.example", "\u2044evil.example", "\uff0fevil.example", "..", "../..//evil.example",
}

// Scheme, host and port of a request are those of the document, whatever the arguments are.
func TestBuild_ArgumentsLeadToNoOtherHost(t *testing.T) {
	t.Parallel()
	const (
		variables = `{"url":"https://{region}.example.com:8443/{version}","variables":{"region":{"default":"api"},"version":{"default":"v1"}}}`
		places    = `"parameters":[{"name":"region","in":"path","required":true,"schema":{"type":"string"}},{"name":"version","in":"query","allowReserved":true,"schema":{"type":"string"}},
			{"name":"host","in":"header","schema":{"type":"string"}},{"name":"server","in":"cookie","schema":{"type":"string"}}],"responses":{}`
		swagger = `"parameters":[{"name":"region","in":"path","required":true,"type":"string"},{"name":"basePath","in":"query","type":"string"},{"name":"host","in":"header","type":"string"}],"responses":{}`
	)
	for name, test := range map[string]struct{ document, want string }{
		"document":     {`{"openapi":"3.1.0","servers":[` + variables + `],"paths":{"/{region}":{"get":{` + places + `}}}}`, "https://api.example.com:8443/v1/"},
		"path":         {`{"openapi":"3.1.0","servers":[{"url":"https://other.example"}],"paths":{"/{region}":{"servers":[` + variables + `],"get":{` + places + `}}}}`, "https://api.example.com:8443/v1/"},
		"operation":    {`{"openapi":"3.1.0","servers":[{"url":"https://other.example"}],"paths":{"/{region}":{"get":{"servers":[` + variables + `],` + places + `}}}}`, "https://api.example.com:8443/v1/"},
		"reserved":     {`{"openapi":"3.2.0","servers":[` + variables + `],"paths":{"/{region}":{"get":{` + strings.Replace(places, `"in":"path",`, `"in":"path","allowReserved":true,`, 1) + `}}}}`, "https://api.example.com:8443/v1/"},
		"two slashes":  {`{"openapi":"3.1.0","servers":[{"url":"https://api.example.com/"}],"paths":{"//{region}":{"get":{` + places + `}}}}`, "https://api.example.com//"},
		"Swagger":      {`{"swagger":"2.0","host":"api.example.com","basePath":"/v1","schemes":["http"],"paths":{"/{region}":{"get":{` + swagger + `}}}}`, "http://api.example.com/v1/"},
		"no base path": {`{"swagger":"2.0","host":"api.example.com:81","paths":{"/{region}":{"get":{` + swagger + `}}}}`, "https://api.example.com:81/"},
	} {
		d, err := openapi.Read([]byte(test.document), openapi.Options{URL: "https://docs.example.com/openapi.json"})
		if err != nil {
			t.Fatal(err)
		}
		tool, err := d.Tool(d.Operations[0])
		if err != nil {
			t.Fatal(err)
		}
		want, err := url.Parse(test.want)
		if err != nil {
			t.Fatal(err)
		}
		sent := 0
		for _, p := range append(tool.Binding.Parameters, openapi.Parameter{Argument: "server"}, openapi.Parameter{Argument: "url"}) {
			for _, value := range hostileValues {
				arguments, _ := json.Marshal(map[string]string{"region": "x", p.Argument: value})
				r, err := httpcall.Build(tool.Binding, arguments)
				if err != nil {
					continue
				}
				sent++
				u, err := url.Parse(r.URL)
				if err != nil || u.Scheme != want.Scheme || u.Host != want.Host || u.User != nil || !strings.HasPrefix(r.URL, test.want) || r.Header.Get("Host") != "" {
					t.Errorf("%s: %s=%q leads to %s", name, p.Argument, value, r.URL)
				}
				if made, err := r.HTTP(t.Context()); err != nil || made.Host != want.Host || made.URL.Host != want.Host {
					t.Errorf("%s: %s=%q leads to %+v, %v", name, p.Argument, value, made, err)
				}
			}
		}
		if sent < len(hostileValues) {
			t.Errorf("%s: %d requests are made", name, sent)
		}
	}
}
