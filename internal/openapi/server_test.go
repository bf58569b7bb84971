package openapi_test

import (
	"strings"
	"testing"

	"patchbay/internal/fault"
	"patchbay/internal/openapi"
)

func TestServers_OnlyDocumentedValues(t *testing.T) {
	t.Parallel()
	d := readHard(t, openapi.Options{})
	server := d.Servers[0]
	for region, want := range map[string]string{"us": "https://us.api.example.com/v1", "evil.example/": "", "": "", "eu/../..": ""} {
		have, err := server.Resolve(map[string]string{"region": region}, "")
		if have != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s, %v", region, have, err)
		}
	}
	free := openapi.Server{URL: "https://{host}.example.com", Variables: []openapi.ServerVariable{{Name: "host", Default: "a", HasDefault: true}}}
	for _, host := range []string{"evil.com/", "evil.com#", "a@b", "a:1", "a\n", "..", "a?b"} {
		if have, err := free.Resolve(map[string]string{"host": host}, ""); err == nil && !strings.HasSuffix(have, ".example.com") && !strings.HasPrefix(have, "https://evil.com/") {
			t.Errorf("%q: %s", host, have)
		}
	}
	for _, address := range []string{"ftp://a", "https://u:p@a", "https://", "/v1", "https://{x}"} {
		if have, err := (openapi.Server{URL: address}).Resolve(nil, ""); err == nil {
			t.Errorf("%s: %s", address, have)
		}
	}
}

func TestServers_OfAnOperation(t *testing.T) {
	t.Parallel()
	const (
		region  = `"servers":[{"url":"https://{region}.api.example.com:8443/{version}/","variables":{"region":{"default":"eu","enum":["eu","us"]},"version":{"default":2.1}}}]`
		unknown = `"servers":[{"url":"https://{tenant}.example.com","variables":{"tenant":{"description":"Yours"}}}]`
		open    = `"openapi":"3.1.0"`

		anyScheme  = `"servers":[{"url":"{protocol}://{hostname}/api/v3","variables":{"protocol":{"default":"http"},"hostname":{"default":"HOSTNAME"}}}]`
		enterprise = `"servers":[{"url":"https://{hostname}/api/v3","variables":{"hostname":{"default":"HOSTNAME"}}}]`
	)
	paths := func(item, operation string) string {
		return `"paths":{"/a":{` + item + `"get":{` + operation + `"responses":{}}}}`
	}
	plain := paths("", "")
	for _, test := range []struct {
		document, server string
		want             string // the address, or a part of the sentence
	}{
		{open + "," + region + "," + plain, "", "https://eu.api.example.com:8443/2.1"},
		{open + "," + region + "," + plain, "https://us.api.example.com:8443/3/", "https://us.api.example.com:8443/3"},
		{open + "," + region + "," + plain, "https://asia.api.example.com:8443/3", "https://eu.api.example.com:8443/2.1"},
		{open + "," + region + "," + plain, "https://us.api.example.com:8443/..", "https://eu.api.example.com:8443/2.1"},
		{open + "," + region + "," + plain, "https://mine.example.com", "https://eu.api.example.com:8443/2.1"},
		{open + "," + region + "," + plain, "https://us.api.example.com:8443/3?x", "https://us.api.example.com:8443/3"},
		{open + "," + region + "," + plain, "https://us.api.example.com:8443/a%2Fb", "https://eu.api.example.com:8443/2.1"},
		{open + "," + region + "," + paths("", region+","), "https://us.api.example.com:8443/3", "https://eu.api.example.com:8443/2.1"}, // an operation's own
		{open + "," + enterprise + "," + plain, "https://ghe.example.com:8443/api/v3", "https://ghe.example.com:8443/api/v3"},
		{open + "," + enterprise + "," + plain, "https://ghe.example.com/x/api/v3", "https://hostname/api/v3"},
		{open + "," + anyScheme + "," + plain, "https://ghe.example.com/api/v3", "https://ghe.example.com/api/v3"},
		{open + "," + anyScheme + "," + plain, "https://mine.example.com", "http://hostname/api/v3"},
		{open + `,"servers":[{"url":"/api/{v}","variables":{"v":{"default":"v1"}}}],` + plain, "https://mine.example.com/api/v2", "https://mine.example.com/api/v2"},
		{open + `,"servers":[{"url":"{base}","variables":{"base":{"default":"https://a.example.com"}}}],` + plain, "https://mine.example.com", "https://a.example.com"},
		{open + `,"servers":[{"url":"https://{a}{a}.example.com","variables":{"a":{"default":"x"}}}],` + plain, "https://y.example.com", "https://xx.example.com"},
		{open + `,"servers":[{"url":"https://` + strings.Repeat("{a}", 51) + `","variables":{"a":{"default":"x"}}}],` + plain, "", "address of the server is too long"},
		{open + `,"servers":[{"url":"https://` + strings.Repeat("{a}", 200_000) + `","variables":{"a":{"default":"x"}}}],` + plain, "https://mine.example.com", "https://mine.example.com"},
		{open + `,"servers":[{"url":"https://` + strings.Repeat("a", 2048) + `.example.com"}],` + plain, "", "address of the server is too long"},
		{open + "," + unknown + "," + plain, "", `no value for the server variable "tenant". Set the connector's API URL (server_url).`},
		{open + "," + unknown + "," + plain, "https://mine.example.com/v1/", "https://mine.example.com/v1"},
		{open + `,"servers":[{"url":"https://{tenant}.example.com"},{"url":"https://b.example.com"}],` + plain, "", "https://b.example.com"},
		{open + `,"servers":[{"url":"https://{t}.example.com"}],` + plain, "", `no value for the server variable "t"`},
		{open + `,"servers":[{"url":"https://{t}.example.com","variables":{"t":{"default":null}}}],` + plain, "", `no value for the server variable "t"`},
		{open + `,"servers":[{"url":"https://{t}.example.com","variables":{"t":{"default":"x","enum":["y"]}}}],` + plain, "", "a value that the document doesn't list"},
		{open + `,"servers":[{"url":"https://{t}.example.com","variables":{"t":{"default":"evil.example:1@"}}}],` + plain, "", "characters that aren't allowed"},
		{open + `,"servers":[{"url":"{scheme}://a.example.com","variables":{"scheme":{"default":"file"}}}],` + plain, "", "must begin with https:// or http://"},
		{open + "," + unknown + "," + paths(region+",", ""), "", "https://eu.api.example.com:8443/2.1"},
		{open + "," + unknown + "," + paths(unknown+",", region+","), "", "https://eu.api.example.com:8443/2.1"},
		{open + "," + region + "," + paths("", unknown+","), "", `no value for the server variable "tenant"`},
		{open + "," + plain, "", "https://docs.example.com"},
		{open + "," + plain, "https://mine.example.com/v1", "https://mine.example.com/v1"},
		{open + `,"servers":[{"url":"/v2"}],` + plain, "", "https://docs.example.com/v2"},
		{open + `,"servers":[{"url":"/v2"}],` + plain, "https://mine.example.com/v1", "https://mine.example.com/v2"},
		{`"swagger":"2.0",` + plain, "https://mine.example.com/v1", "https://mine.example.com/v1"},
		{`"swagger":"2.0","basePath":"/v3",` + plain, "https://mine.example.com", "https://mine.example.com/v3"},
		{`"swagger":"2.0","basePath":"/v3","host":"api.example.com:81","schemes":["http"],` + plain, "https://mine.example.com", "http://api.example.com:81/v3"},
		{`"swagger":"2.0","host":"user:key@api.example.com",` + plain, "", "must not have a user name"},
	} {
		d := readDocument(t, "{"+test.document+"}", openapi.Options{URL: "https://docs.example.com/x/openapi.json", Server: test.server})
		made, err := d.Tool(d.Operations[0])
		if err != nil {
			if message := fault.As(err).Message; !strings.Contains(message, test.want) {
				t.Errorf("%s: %s", test.document, message)
			}
		} else if made.Binding.Server != test.want {
			t.Errorf("%s: %s, want %s", test.document, made.Binding.Server, test.want)
		}
	}
}

func TestAddress_OfADocumentWithoutServers(t *testing.T) {
	t.Parallel()
	const paths = `"paths":{"/a":{"servers":[{"url":"https://a.example.com"}],"get":{"responses":{}}},"/b":{"get":{"servers":[{"url":"https://b.example.com/v1"}],"responses":{}}}}}`
	for _, row := range []struct {
		servers, key, want string
	}{
		{"", "", "https://a.example.com"},
		{"", "GET /b", "https://b.example.com/v1"},
		{`"servers":[{"url":"/v2"}],`, "GET /b", "https://docs.example.com/v2"},
	} {
		d := readDocument(t, `{"openapi":"3.1.0",`+row.servers+paths, openapi.Options{URL: "https://docs.example.com/openapi.json"})
		if at, err := d.Address(row.key); err != nil || at != row.want {
			t.Errorf("%+v: %s, %v", row, at, err)
		}
	}
}
