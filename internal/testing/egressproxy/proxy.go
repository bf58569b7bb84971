package egressproxy

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
)

// Options describe a proxy.
type Options struct {
	To     string // host:port of the server that all is led to; empty: none answers
	From   string // the address that it comes from there, as 127.0.0.2; empty: any
	TLS    bool   // clients speak TLS with the proxy itself
	User   string // with Password: what clients have to say; empty: nothing
	Pass   string
	Answer func(w http.ResponseWriter, r *http.Request) (taken bool) // may take a request over; nil: none is
}

// Proxy is a running proxy.
type Proxy struct {
	*httptest.Server
	o Options

	mu     sync.Mutex
	asked  []string
	closed bool
	open   sync.WaitGroup // added to while not closed
}

// New starts a proxy. It ends with the test.
func New(t testing.TB, o Options) *Proxy {
	t.Helper()
	p := &Proxy{o: o}
	p.Server = httptest.NewUnstartedServer(p)
	if o.TLS {
		p.StartTLS()
	} else {
		p.Start()
	}
	t.Cleanup(p.end)
	return p
}

// Refusing is the setting of a proxy that answers every request with a status.
func Refusing(t testing.TB, status int) *safehttp.Proxy {
	t.Helper()
	p := New(t, Options{Answer: func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(status)
		return true
	}})
	return p.Setting(t)
}

// Setting is the proxy as a policy takes it.
func (p *Proxy) Setting(t testing.TB) *safehttp.Proxy {
	t.Helper()
	parsed, err := safehttp.ParseProxy(secret.Text(p.Address("")))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// Address is the proxy's URL with this "user:password@" in it.
func (p *Proxy) Address(userinfo string) string {
	return strings.Replace(p.URL, "://", "://"+userinfo, 1)
}

// Asked are the methods and targets of all requests so far.
func (p *Proxy) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

// end waits for what was connected. Whoever asked closes first.
func (p *Proxy) end() {
	p.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.open.Wait()
}

// ServeHTTP serves CONNECT (RFC 9110 §9.3.6).
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.Host)
	p.mu.Unlock()
	switch {
	case p.o.Answer != nil && p.o.Answer(w, r):
	case !p.knows(r):
		w.WriteHeader(http.StatusProxyAuthRequired)
	case r.Method != http.MethodConnect:
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		p.connect(w, r)
	}
}

func (p *Proxy) knows(r *http.Request) bool {
	if p.o.User == "" {
		return true
	}
	said := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	user, password, ok := said.BasicAuth()
	return ok && user == p.o.User && password == p.o.Pass
}

func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	up, err := (&net.Dialer{LocalAddr: p.from()}).DialContext(r.Context(), "tcp", p.o.To)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	down, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = up.Close()
		return
	}
	_, _ = io.WriteString(down, "HTTP/1.1 200 Connection established\r\n\r\n")
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_, _ = up.Close(), down.Close()
		return
	}
	p.open.Go(func() { pour(up, down) })
	p.open.Go(func() { pour(down, up) })
}

func (p *Proxy) from() net.Addr {
	if p.o.From == "" {
		return nil
	}
	return &net.TCPAddr{IP: net.ParseIP(p.o.From)}
}

func pour(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
}
