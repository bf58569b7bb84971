package installation

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/config"
)

func TestOwnHosts_HaveBothListeners(t *testing.T) {
	t.Parallel()
	base := &url.URL{Scheme: "https", Host: "patchbay.example.com"}
	for name, tc := range map[string]struct {
		listening string
		server    config.Server
		want      []string
	}{
		"one address":  {"127.0.0.1:8080", config.Server{Egress: config.EgressLocal}, []string{"127.0.0.1:8080"}},
		"any address":  {"[::]:8080", config.Server{Egress: config.EgressPublic}, []string{"[::]:8080", "127.0.0.1:8080", "[::1]:8080", "localhost:8080"}},
		"private, too": {"127.0.0.1:8080", config.Server{Egress: config.EgressLocal, PrivateAddr: "127.0.0.1:9"}, []string{"127.0.0.1:8080", "127.0.0.1:9"}},
		"out of reach": {"127.0.0.1:8080", config.Server{Egress: config.EgressPublic, PrivateAddr: "127.0.0.1:9"}, []string{"127.0.0.1:8080"}},
	} {
		want := append([]string{"patchbay.example.com:443"}, tc.want...)
		if diff := cmp.Diff(want, OwnHosts(base, tc.listening, tc.server)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
