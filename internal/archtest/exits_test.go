package archtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/archtest"
)

func TestEveryOtherWayOutIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ imports, use, want string }{
		"a client":                   {`"net/http"`, "var c = &http.Client{}", "net/http.Client"},
		"a client by new":            {`"net/http"`, "var c = new(http.Client)", "net/http.Client"},
		"a client's zero value":      {`h "net/http"`, "var c h.Client", "net/http.Client"},
		"a client inside another":    {`"net/http"`, "type c struct{ http.Client }", "net/http.Client"},
		"a client by another name":   {`"net/http"`, "type c = http.Client", "net/http.Client"},
		"clients in a list":          {`"net/http"`, "var c []http.Client", "net/http.Client"},
		"the default client":         {`"net/http"`, "var c = http.DefaultClient", "net/http.DefaultClient"},
		"a request without rules":    {`"net/http"`, "var _, _ = http.Get(\"\")", "net/http.Get"},
		"a form without rules":       {`"net/http"`, "var post = http.PostForm", "net/http.PostForm"},
		"a transport":                {`"net/http"`, "var c = http.Transport{}", "net/http.Transport"},
		"a transport's pointer":      {`"net/http"`, "func f(r http.RoundTripper) { r.(*http.Transport).Clone() }", "net/http.Transport"},
		"the default transport":      {`"net/http"`, "var c = http.DefaultTransport", "net/http.DefaultTransport"},
		"names without their room":   {`. "net/http"`, "var c Client", "net/http.*"},
		"a connection":               {`"net"`, "var c, _ = net.Dial(\"tcp\", \"\")", "net.Dial"},
		"a dialer":                   {`"net"`, "var d net.Dialer", "net.Dialer"},
		"a connection by its socket": {`"net"`, "var d = net.DialUnix", "net.DialUnix"},
		"a look-up":                  {`"net"`, "var l, _ = net.LookupTXT(\"\")", "net.LookupTXT"},
		"a resolver":                 {`"net"`, "var r *net.Resolver", "net.Resolver"},
		"TLS of its own":             {`"crypto/tls"`, "var c, _ = tls.Dial(\"tcp\", \"\", nil)", "crypto/tls.Dial"},
		"a reverse proxy":            {`"net/http/httputil"`, "var p httputil.ReverseProxy", "net/http/httputil.ReverseProxy"},
		"mail":                       {`"net/smtp"`, "var m = smtp.SendMail", "net/smtp.*"},
		"a websocket":                {`"github.com/coder/websocket"`, "var d = websocket.Dial", "github.com/coder/websocket.*"},
		"another websocket":          {`ws "golang.org/x/net/websocket"`, "var d = ws.Dial", "golang.org/x/net/websocket.*"},
		"HTTP/2 of its own":          {`"golang.org/x/net/http2"`, "var d http2.Transport", "golang.org/x/net/http2.*"},
		"a library's default client": {`"golang.org/x/oauth2"`, "var c oauth2.Config", "golang.org/x/oauth2.Config"},
		"a socket":                   {`"syscall"`, "var s, _ = syscall.Socket(2, 1, 0)", "syscall.Socket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "package a\nimport " + tc.imports + "\n" + tc.use
			line := "3"
			if tc.want[len(tc.want)-1] == '*' {
				line = "2"
			}
			for _, room := range []string{"door", "roof", "internal/fasthttp/httpclient", "cmd/server"} {
				have, err := archtest.CheckFile(plan, room, "a.go", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{room + "/a.go:" + line + ": " + tc.want + ": what leaves goes through safehttp"}, have); diff != "" {
					t.Error(diff)
				}
			}
			if have, err := archtest.CheckFile(plan, "door", "a_test.go", []byte(text)); err != nil || have != nil {
				t.Errorf("in a test: %v, %v", have, err)
			}
		})
	}
}

func TestExitsOfTheListAreOpen(t *testing.T) {
	t.Parallel()
	for room, text := range map[string]string{
		"internal/safehttp": "package a\nimport (\n\"net\"\n\"net/http\"\n)\nvar c = http.Client{Transport: &http.Transport{}}\nvar d net.Dialer",
		"db":                "package a\nimport \"net\"\nvar d net.Dialer",
		"door":              "package a\nimport (\n\"net\"\n\"net/http\"\n)\ntype d struct{ c *http.Client; l net.Listener }\nvar m = http.MethodGet",
	} {
		if have, err := archtest.CheckFile(plan, room, "a.go", []byte(text)); err != nil || have != nil {
			t.Errorf("%s: %v, %v", room, have, err)
		}
	}
}

func TestExitsThatNobodyTakesAreClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a\nimport \"net\"\nvar d net.Dialer", "a_test.go": "package a\nimport \"net\"\nvar e = net.Dial"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := archtest.CheckExits([]archtest.Exit{
		{Room: "door", Name: "net.Dialer"}, {Room: "door", Name: "net.Dial", Because: "a test does"}, {Room: "roof", Name: "net.Dialer", Because: "it did"},
	}, []archtest.Package{{Path: "door", Dir: dir, Files: []string{"a.go", "a_test.go"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"door uses net.Dialer, and nothing says why", "door does not use net.Dial: take its row out of exits.go", "roof does not use net.Dialer: take its row out of exits.go",
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}
