package safehttp_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
)

// errReached ends a connection that was allowed.
var errReached = errors.New("the connection was allowed")

// dialRecorder records the addresses that a policy would have connected to.
type dialRecorder struct {
	mu  sync.Mutex
	all []string
}

func (r *dialRecorder) add(at netip.AddrPort) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, at.String())
	return errReached
}

// takeDialled returns the unique addresses and clears the recorder.
func (r *dialRecorder) takeDialled() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	slices.Sort(all)
	return slices.Compact(all)
}

// newRecordedPolicy returns a public policy whose connections end before the connect, with answers as its DNS.
func newRecordedPolicy(t *testing.T, answers func(name string) string) (*safehttp.Policy, *dialRecorder) {
	t.Helper()
	p := safehttp.New(safehttp.Options{Mode: safehttp.Public, OwnHosts: installationHosts, Resolver: newResolver(t, answers)})
	r := &dialRecorder{}
	p.EndConnections(r.add)
	return p, r
}

func (a attempt) policy(t *testing.T) (*safehttp.Policy, *dialRecorder) {
	t.Helper()
	return newRecordedPolicy(t, func(string) string {
		if a.answers == "" {
			return "1.1.1.1"
		}
		return a.answers
	})
}

// sendUnchecked uses the client without CheckURL, because addresses come from servers' responses, too.
func sendUnchecked(t *testing.T, p *safehttp.Policy, raw string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, raw, http.NoBody)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "no URL")
	}
	resp, err := p.Client().Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}

func TestSSRF_AttacksAreBlocked(t *testing.T) {
	t.Parallel()
	n := 0
	for class, attempts := range attacks {
		n += len(attempts)
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			for _, a := range attempts {
				p, r := a.policy(t)
				_, entered := p.CheckURL(a.url)
				sent := sendUnchecked(t, p, a.url)
				if all := r.takeDialled(); len(all) > 0 {
					t.Errorf("%q, resolved to %q, connects to %v", a.url, a.answers, all)
				}
				if a.answers == "" && entered == nil {
					t.Errorf("%q may be entered", a.url)
				}
				if _, blocked := errors.AsType[*safehttp.BlockedError](sent); !blocked && !fault.Is(sent, fault.Invalid) {
					t.Errorf("%q, resolved to %q, is not blocked but: %v", a.url, a.answers, sent)
				}
			}
		})
	}
	t.Logf("%d attempts in %d classes", n, len(attacks))
	if n < 150 {
		t.Errorf("%d attempts are left of the table", n)
	}
}

func TestSSRF_LegitimateURLsConnect(t *testing.T) {
	t.Parallel()
	for _, f := range legitimate {
		p, r := f.policy(t)
		if _, err := p.CheckURL(f.url); err != nil {
			t.Errorf("%q may not be entered: %v", f.url, err)
		}
		err := sendUnchecked(t, p, f.url)
		if diff := cmp.Diff([]string{f.reaches}, r.takeDialled()); diff != "" {
			t.Errorf("%q, resolved to %q (%v): %s", f.url, f.answers, err, diff)
		}
	}
}

// A name is resolved for each connection. Earlier answers, or those for the other address family, allow
// nothing.
func TestSSRF_DNSRebindingIsBlocked(t *testing.T) {
	t.Parallel()
	for _, then := range []string{"127.0.0.1", "10.0.0.5", "169.254.169.254", "::1", "fd00:ec2::254", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "9.9.9.9"} {
		var now atomic.Value
		now.Store("1.1.1.1")
		p, r := newRecordedPolicy(t, func(string) string { return now.Load().(string) })
		const url = "https://rebind.example.com/"
		if _, err := p.CheckURL(url); err != nil {
			t.Fatal(err)
		}
		_ = sendUnchecked(t, p, url)
		if diff := cmp.Diff([]string{"1.1.1.1:443"}, r.takeDialled()); diff != "" {
			t.Errorf("the first time: %s", diff)
		}
		now.Store(then)
		wantBlocked(t, sendUnchecked(t, p, url), "rebind.example.com")
		now.Store("1.1.1.1," + then)
		_ = sendUnchecked(t, p, url)
		if diff := cmp.Diff([]string{"1.1.1.1:443"}, r.takeDialled()); diff != "" {
			t.Errorf("with %s among the answers: %s", then, diff)
		}
	}
}

// No status makes the client follow Location.
func TestSSRF_NoRedirectIsFollowed(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	var target atomic.Value
	var status atomic.Int32
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Location", target.Load().(string))
		w.Header().Set("Refresh", "0; url="+target.Load().(string))
		w.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(up.Close)
	allow, err := safehttp.ParseAllow(strings.TrimPrefix(up.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	p := safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow})
	for _, to := range []string{
		up.URL + "/loop", "/loop", "https://127.0.0.1/", "https://10.0.0.5/", "http://169.254.169.254/latest/meta-data/", "https://[::1]/", "https://localhost/",
		"http://mcp.example.com/", "https://mcp.example.com:22/", "https://user@mcp.example.com/", "//10.0.0.5/", "file:///etc/passwd", "gopher://10.0.0.5:6379/_x", "https://2130706433/", "\\\\10.0.0.5\\", "",
	} {
		for _, s := range []int32{300, 301, 302, 303, 304, 305, 307, 308} {
			target.Store(to)
			status.Store(s)
			asked.Store(0)
			resp, err := get(t, p, up.URL+"/")
			if err != nil || resp.StatusCode != int(s) || asked.Load() != 1 {
				t.Errorf("%d to %q: %v, %v, asked %d times", s, to, resp, err, asked.Load())
			}
		}
	}
}

// A redirect target that the caller follows is checked by the same client.
func TestException_OpensNothingElse(t *testing.T) {
	t.Parallel()
	allow, err := safehttp.ParseAllow("10.1.2.3:8080, wiki.lan:80, mcp.example.com:9443, [fd00::7]:443")
	if err != nil {
		t.Fatal(err)
	}
	p := safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow, OwnHosts: installationHosts, Resolver: newResolver(t, func(string) string { return "10.9.9.9" })})
	r := &dialRecorder{}
	p.EndConnections(r.add)
	for url, want := range map[string]string{
		"http://10.1.2.3:8080/":         "10.1.2.3:8080",
		"https://10.1.2.3/":             "",
		"http://10.1.2.4:8080/":         "",
		"http://wiki.lan/":              "10.9.9.9:80",
		"http://wiki.lan:8080/":         "",
		"http://x.wiki.lan/":            "",
		"https://mcp.example.com:9443/": "10.9.9.9:9443",
		"https://mcp.example.com/":      "",
		"https://[fd00::7]/":            "[fd00::7]:443",
		"https://[fd00::8]/":            "",
		"https://other.example.com/":    "",
	} {
		err := sendUnchecked(t, p, url)
		var reach []string
		if want != "" {
			reach = []string{want}
		}
		if diff := cmp.Diff(reach, r.takeDialled()); diff != "" {
			t.Errorf("%s (%v): %s", url, err, diff)
		}
	}
}
