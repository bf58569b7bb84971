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

// reached are the addresses that a policy would have connected to.
type reached struct {
	mu  sync.Mutex
	all []string
}

func (r *reached) add(at netip.AddrPort) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, at.String())
	return errReached
}

// take returns them, each once, and begins anew.
func (r *reached) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	slices.Sort(all)
	return slices.Compact(all)
}

// watched is a public policy whose connections end where they would begin, and whose names resolve to answers.
func watched(t *testing.T, answers func(name string) string) (*safehttp.Policy, *reached) {
	t.Helper()
	p := safehttp.New(safehttp.Options{Mode: safehttp.Public, OwnHosts: ours, Resolver: resolver(t, answers)})
	r := &reached{}
	p.EndConnections(r.add)
	return p, r
}

func (a attempt) policy(t *testing.T) (*safehttp.Policy, *reached) {
	t.Helper()
	return watched(t, func(string) string {
		if a.answers == "" {
			return "1.1.1.1"
		}
		return a.answers
	})
}

// send asks the client itself, past the check of what was entered: addresses come from servers' answers, too.
func send(t *testing.T, p *safehttp.Policy, raw string) error {
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

func TestAttacksOfEveryClassLeadNowhere(t *testing.T) {
	t.Parallel()
	n := 0
	for class, attempts := range attacks {
		n += len(attempts)
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			for _, a := range attempts {
				p, r := a.policy(t)
				_, entered := p.CheckURL(a.url)
				sent := send(t, p, a.url)
				if all := r.take(); len(all) > 0 {
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

func TestWhatIsFairIsConnectedTo(t *testing.T) {
	t.Parallel()
	for _, f := range fair {
		p, r := f.policy(t)
		if _, err := p.CheckURL(f.url); err != nil {
			t.Errorf("%q may not be entered: %v", f.url, err)
		}
		err := send(t, p, f.url)
		if diff := cmp.Diff([]string{f.reaches}, r.take()); diff != "" {
			t.Errorf("%q, resolved to %q (%v): %s", f.url, f.answers, err, diff)
		}
	}
}

// A name is looked up for each connection. What it said before, or says of another kind of address, opens nothing.
func TestANameThatChangesItsMindLeadsNowhere(t *testing.T) {
	t.Parallel()
	for _, then := range []string{"127.0.0.1", "10.0.0.5", "169.254.169.254", "::1", "fd00:ec2::254", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "9.9.9.9"} {
		var now atomic.Value
		now.Store("1.1.1.1")
		p, r := watched(t, func(string) string { return now.Load().(string) })
		const url = "https://rebind.example.com/"
		if _, err := p.CheckURL(url); err != nil {
			t.Fatal(err)
		}
		_ = send(t, p, url)
		if diff := cmp.Diff([]string{"1.1.1.1:443"}, r.take()); diff != "" {
			t.Errorf("the first time: %s", diff)
		}
		now.Store(then)
		wantBlocked(t, send(t, p, url), "rebind.example.com")
		now.Store("1.1.1.1," + then)
		_ = send(t, p, url)
		if diff := cmp.Diff([]string{"1.1.1.1:443"}, r.take()); diff != "" {
			t.Errorf("with %s among the answers: %s", then, diff)
		}
	}
}

// The answer's address decides where its reader goes next: nowhere by itself, and by no status.
func TestNoRedirectIsFollowedByItself(t *testing.T) {
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

// What an answer points at is sent by its reader, over the same client: to where it may not lead it leads nowhere.
func TestAnExceptionOpensNothingBeside(t *testing.T) {
	t.Parallel()
	allow, err := safehttp.ParseAllow("10.1.2.3:8080, wiki.lan:80, mcp.example.com:9443, [fd00::7]:443")
	if err != nil {
		t.Fatal(err)
	}
	p := safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow, OwnHosts: ours, Resolver: resolver(t, func(string) string { return "10.9.9.9" })})
	r := &reached{}
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
		err := send(t, p, url)
		var reach []string
		if want != "" {
			reach = []string{want}
		}
		if diff := cmp.Diff(reach, r.take()); diff != "" {
			t.Errorf("%s (%v): %s", url, err, diff)
		}
	}
}
