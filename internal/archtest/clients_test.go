package archtest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/archtest"
)

func TestClients_HaveTheirOwnTransports(t *testing.T) {
	t.Parallel()
	wrong, err := archtest.CheckClients(archtest.DefaultTransports, packages(t))
	if err != nil {
		t.Fatal(err)
	}
	none(t, wrong)
}

// checkClients checks one file of the package "door" without its figures.
func checkClients(t *testing.T, list []archtest.DefaultTransport, name, text string) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong, err := archtest.CheckClients(list, []archtest.Package{{Path: "door", Dir: dir, Files: []string{name}}})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(wrong, func(s string) bool { return strings.HasSuffix(s, " are the least") })
}

func TestClients_RefuseTheDefaultTransport(t *testing.T) {
	t.Parallel()
	const mcp = `"github.com/modelcontextprotocol/go-sdk/mcp"`
	for name, tc := range map[string]struct{ imports, use, want string }{
		"the default client":      {`"net/http"`, "var c = http.DefaultClient", "net/http.DefaultClient"},
		"the default transport":   {`"net/http"`, "var c = http.DefaultTransport.(*http.Transport).Clone()", "net/http.DefaultTransport"},
		"a GET":                   {`"net/http"`, `var _, _ = http.Get("")`, "net/http.Get"},
		"a HEAD":                  {`"net/http"`, `var _, _ = http.Head("")`, "net/http.Head"},
		"a POST":                  {`web "net/http"`, `var _, _ = web.Post("", "", nil)`, "net/http.Post"},
		"a form":                  {`"net/http"`, "var post = http.PostForm", "net/http.PostForm"},
		"an empty client":         {`"net/http"`, "var c = &http.Client{}", "net/http.Client"},
		"a client with a jar":     {`"net/http"`, "var c = http.Client{Jar: nil}", "net/http.Client"},
		"no transport":            {`"net/http"`, "var c = http.Client{Transport: nil}", "net/http.Client"},
		"a client by new":         {`"net/http"`, "var c = new(http.Client)", "net/http.Client"},
		"a client's zero value":   {`"net/http"`, "var c http.Client", "net/http.Client"},
		"a client in a struct":    {`"net/http"`, "type c struct{ http.Client }", "net/http.Client"},
		"a reverse proxy":         {`"net/http/httputil"`, "var p = &httputil.ReverseProxy{FlushInterval: -1}", "net/http/httputil.ReverseProxy"},
		"a proxy by its function": {`"net/http/httputil"`, "var p = httputil.NewSingleHostReverseProxy(nil)", "net/http/httputil.NewSingleHostReverseProxy"},
		"the SDK":                 {"sdk " + mcp, `var c = &sdk.StreamableClientTransport{Endpoint: ""}`, "github.com/modelcontextprotocol/go-sdk/mcp.StreamableClientTransport"},
		"the SDK over SSE":        {mcp, `var c = mcp.SSEClientTransport{}`, "github.com/modelcontextprotocol/go-sdk/mcp.SSEClientTransport"},
		"the SDK's sign-in":       {`"github.com/modelcontextprotocol/go-sdk/auth"`, `var c = auth.AuthorizationCodeHandlerConfig{}`, "github.com/modelcontextprotocol/go-sdk/auth.AuthorizationCodeHandlerConfig"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, file := range []string{"a.go", "a_test.go"} {
				text := "//go:build e2e\n\npackage a\nimport " + tc.imports + "\n" + tc.use
				want := "door/" + file + ":5: " + tc.want + " uses http.DefaultTransport, whose idle connections any test server closes"
				if wrong := checkClients(t, nil, file, text); !slices.Equal(wrong, []string{want}) {
					t.Errorf("%q, want %q", wrong, want)
				}
			}
		})
	}
	if wrong := checkClients(t, nil, "a.go", "package a\nimport . \"net/http\"\nvar c = DefaultClient"); len(wrong) != 1 {
		t.Errorf("without its package's name: %q", wrong)
	}
}

func TestClients_AllowOthers(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a transport":            "import \"net/http\"\nvar c = &http.Client{Transport: &http.Transport{}}",
		"a pointer":              "import \"net/http\"\nfunc f(c *http.Client) { c.Get(\"\") }",
		"another package":        "import \"example.com/http\"\nvar c = http.DefaultClient",
		"a proxy with transport": "import \"net/http/httputil\"\nvar p = httputil.ReverseProxy{Transport: t}",
	} {
		if wrong := checkClients(t, nil, "a_test.go", "package a\n"+text); len(wrong) > 0 {
			t.Errorf("%s: %q", name, wrong)
		}
	}
}

func TestClients_JudgeTheListOfExceptions(t *testing.T) {
	t.Parallel()
	list := []archtest.DefaultTransport{
		{Room: "door", Name: "net/http.Get", Because: "a test of it"}, {Room: "door", Name: "net/http.Post"}, {Room: "roof", Name: "net/http.Get", Because: "it did"},
	}
	wrong := checkClients(t, list, "a.go", "package a\nimport \"net/http\"\nvar _, _ = http.Get, http.Post")
	want := []string{"door uses net/http.Post, and nothing says why", "roof does not use net/http.Get: take its row out of clients.go"}
	if !slices.Equal(wrong, want) {
		t.Errorf("%q, want %q", wrong, want)
	}
}
