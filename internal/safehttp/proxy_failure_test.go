package safehttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/testing/egressproxy"
)

// proxySends makes the proxy send text instead of a response, and close.
func proxySends(text string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(c, text)
			_ = c.Close()
		}
		return true
	}
}

func proxyStatus(code int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("X-Why", "hunter2")
		http.Error(w, "hunter2", code)
		return true
	}
}

func TestProxy_FailureHasOwnSentence(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer    func(http.ResponseWriter, *http.Request) bool
		want      string
		permanent bool
	}{
		"it wants a password": {proxyStatus(407), "The egress proxy refused Patchbay's credentials (407).", false},
		"it forbids":          {proxyStatus(403), "The egress proxy blocks example.com (403).", true},
		"it cannot":           {proxyStatus(502), "The egress proxy couldn't connect to example.com (502).", false},
		"it is overloaded":    {proxyStatus(503), "The egress proxy couldn't connect to example.com (503).", false},
		"it waits in vain":    {proxyStatus(504), "The egress proxy couldn't connect to example.com (504).", false},
		"it is no proxy":      {proxyStatus(404), "The egress proxy answered 404 instead of connecting to example.com.", false},
		"it redirects":        {proxyStatus(302), "The egress proxy answered 302 instead of connecting to example.com.", false},
		"it speaks otherwise": {proxySends("220 mail.example.com ESMTP\r\n"), "The egress proxy doesn't respond like a proxy.", false},
		"it says nothing":     {proxySends(""), "The egress proxy doesn't respond like a proxy.", false},
		"it never ends":       {proxySends("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 200)), "The egress proxy doesn't respond like a proxy.", false},
		"it answers in others' place": {proxySends("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
			"The egress proxy sent data before the server's response.", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := egressproxy.New(t, egressproxy.Options{Answer: tc.answer})
			p := newProxyPolicy(t, parseProxy(t, proxy.Address("patch:hunter2@")), nil, "1.1.1.1")
			for _, url := range []string{"http://example.com/", "https://example.com/"} {
				err := sendUnchecked(t, p, url)
				failed, ok := errors.AsType[*safehttp.ProxyError](err)
				if !ok || !strings.HasPrefix(failed.Why, tc.want) || failed.Forbidden() != tc.permanent {
					t.Errorf("%s: %v, want %q", url, err, tc.want)
				}
				if op, ok := errors.AsType[*net.OpError](err); !ok || op.Op != "dial" {
					t.Errorf("%s: %v, want an error of dialling", url, err)
				}
				if strings.Contains(fmt.Sprintf("%v %+v", err, failed), "hunter2") {
					t.Errorf("%s: the error tells the password, or what the proxy said: %v", url, err)
				}
			}
		})
	}
}

func TestProxy_UnreachableHasSentence(t *testing.T) {
	t.Parallel()
	gone := egressproxy.New(t, egressproxy.Options{})
	proxy := parseProxy(t, gone.Address("patch:hunter2@"))
	gone.Close()
	err := sendUnchecked(t, newProxyPolicy(t, proxy, nil, "1.1.1.1"), "https://example.com/")
	failed, ok := errors.AsType[*safehttp.ProxyError](err)
	if !ok || !strings.HasPrefix(failed.Why, "The egress proxy can't be reached.") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
	if err := proxy.Try(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("tried: %v", err)
	}
}

func TestProxy_TLSMustBeTrusted(t *testing.T) {
	t.Parallel()
	proxy := egressproxy.New(t, egressproxy.Options{TLS: true})
	err := sendUnchecked(t, newProxyPolicy(t, parseProxy(t, proxy.Address("patch:hunter2@")), nil, "1.1.1.1"), "https://example.com/")
	failed, ok := errors.AsType[*safehttp.ProxyError](err)
	if !ok || !strings.HasPrefix(failed.Why, "TLS to the egress proxy failed.") || len(proxy.Asked()) > 0 {
		t.Errorf("%v, and the proxy was asked %v", err, proxy.Asked())
	}
}

func TestProxy_HangEndsWithCaller(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://example.com/", "https://example.com/"} {
		gone := errors.New("the caller left")
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan struct{})
		proxy := egressproxy.New(t, egressproxy.Options{Answer: func(http.ResponseWriter, *http.Request) bool {
			cancel(gone)
			<-ended
			return true
		}})
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		_, err = newProxyPolicy(t, proxy.Setting(t), nil, "1.1.1.1").Client().Do(req)
		close(ended)
		if !errors.Is(err, gone) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestProxyTry_DetectsUnresponsiveProxy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request) bool
		works  bool
	}{
		"it cannot find what cannot be": {nil, true},
		"it forbids":                    {proxyStatus(403), true},
		"it wants a password":           {proxyStatus(407), false},
		"it is none":                    {proxySends("hello"), false},
	} {
		proxy := egressproxy.New(t, egressproxy.Options{Answer: tc.answer})
		if err := proxy.Setting(t).Try(t.Context()); (err == nil) != tc.works {
			t.Errorf("%s: %v", name, err)
		}
		if asked := proxy.Asked(); len(asked) != 1 || asked[0] != "CONNECT patchbay.invalid:443" {
			t.Errorf("%s: asked %v", name, asked)
		}
	}
}

func TestProxy_NeverPrintsPassword(t *testing.T) {
	t.Parallel()
	p, err := safehttp.ParseProxy("https://patch:hunter2@proxy.example.com:3128/")
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if have := fmt.Sprintf(verb, p); have != "https://proxy.example.com:3128" {
			t.Errorf("%s prints %s", verb, have)
		}
	}
	if p.String() != "https://proxy.example.com:3128" {
		t.Error(p.String())
	}
}

func TestParseProxy_RefusesInvalid(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"proxy.example.com:3128", "socks5://hunter2@proxy.example.com:1080", "http://hunter2:hunter2@", "http://", "http://proxy.example.com:0", "http://proxy.example.com:99999",
		"http://hunter2@proxy.example.com:3128/path", "http://proxy.example.com:3128?hunter2", "http://proxy.example.com:3128#hunter2", "http://hunter2 @proxy.example.com", "http://127.1:3128", "hunter2",
		"http://patch:hunter2%zz@proxy.example.com:3128", "http:proxy.example.com:3128",
	} {
		p, err := safehttp.ParseProxy(secret.Text(text))
		if p != nil || !fault.Is(err, fault.Invalid) || strings.Contains(fault.As(err).Message, "hunter2") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	if p, err := safehttp.ParseProxy(""); p != nil || err != nil {
		t.Errorf("nothing: %v, %v", p, err)
	}
	for text, want := range map[string]string{
		"http://proxy:3128": "http://proxy:3128", "http://10.0.0.1": "http://10.0.0.1:80", "https://[fd00::1]/": "https://[fd00::1]:443", "http://localhost:3128/": "http://localhost:3128",
	} {
		if p, err := safehttp.ParseProxy(secret.Text(text)); err != nil || p.String() != want {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
}
