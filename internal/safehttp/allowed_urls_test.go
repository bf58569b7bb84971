package safehttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"testing"

	"patchbay/internal/safehttp"
)

var errStopDial = errors.New("here it ends")

// isReachable reports whether a request to a URL gets as far as a connection.
func isReachable(t *testing.T, p *safehttp.Policy, url string) bool {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := p.Client().Transport.RoundTrip(r)
	if err == nil {
		_ = resp.Body.Close()
		t.Fatalf("%s was answered", url)
	}
	return errors.Is(err, errStopDial)
}

// A cached origin allows no other, and a refusal is not cached.
func TestAllowedURLs_AllowNothingElse(t *testing.T) {
	t.Parallel()
	p := safehttp.New(safehttp.Options{Mode: safehttp.Public})
	p.EndConnections(func(netip.AddrPort) error { return errStopDial })
	for range 3 {
		for url, want := range map[string]bool{
			"https://93.184.215.14/mcp":      true,
			"https://93.184.215.14/other":    true,
			"https://93.184.215.14:8443/":    true,
			"http://93.184.215.14/mcp":       false,
			"ftp://93.184.215.14/mcp":        false,
			"https://93.184.215.14:22/mcp":   false,
			"https://me@93.184.215.14/mcp":   false,
			"https://a:b@93.184.215.14/mcp":  false,
			"https://127.0.0.1/mcp":          false,
			"https://93.184.215.14.local/":   false,
			"https://[::ffff:5db8:d70e]/mcp": false,
		} {
			if got := isReachable(t, p, url); got != want {
				t.Errorf("a request to %s goes: %t", url, got)
			}
		}
	}
}

func TestAllowedURLs_Bounded(t *testing.T) {
	t.Parallel()
	p := safehttp.New(safehttp.Options{Mode: safehttp.Public})
	p.EndConnections(func(netip.AddrPort) error { return errStopDial })
	for i := range 2000 {
		if url := fmt.Sprintf("https://93.184.%d.%d/", i>>8, i&0xff); !isReachable(t, p, url) {
			t.Errorf("no request goes to %s", url)
		}
		if n := p.Known(); n == 0 || n > 512 {
			t.Fatalf("%d places are known", n)
		}
	}
}

// BenchmarkKnown measures the check of a cached origin.
func BenchmarkKnown(b *testing.B) {
	for _, url := range []string{"http://127.0.0.1:9000/mcp", "https://mcp.example.com/mcp"} {
		p := safehttp.New(safehttp.Options{Mode: safehttp.Local})
		u, err := p.CheckURL(url)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(u.Scheme, func(b *testing.B) {
			for b.Loop() {
				if err := p.CheckKnown(u); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
