package safehttp_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/safehttp"
)

func TestDialTLS_RefusesWhatTheClientRefuses(t *testing.T) {
	t.Parallel()
	private := safehttp.New(safehttp.Options{
		Mode: safehttp.Public, OwnHosts: []string{"patchbay.example.com"}, Resolver: newResolver(t, func(string) string { return "10.0.0.5" }),
	})
	for _, address := range []string{
		"10.0.0.1:6514", "127.0.0.1:6514", "[::1]:6514", "169.254.169.254:443", "logs.example.com:25", "localhost:6514", "logs.internal:6514", "2130706433:6514",
		"patchbay.example.com:443", "ann@logs.example.com:6514", "logs.example.com:6514/x", "logs.example.com:", "",
		"logs.example.com:6514", // resolves to a private address
	} {
		c, err := private.DialTLS(t.Context(), address, nil)
		if err == nil {
			_ = c.Close()
			t.Errorf("%s is connected to", address)
		}
		if _, blocked := errors.AsType[*safehttp.BlockedError](err); !blocked && !strings.Contains(err.Error(), "Enter an address") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := private.CheckTLS("8.8.8.8:6514"); err != nil {
		t.Error(err)
	}
	if _, err := private.CheckURL("https://8.8.8.8:6514/"); err == nil {
		t.Error("the port of syslog is allowed to HTTPS")
	}
}

func TestDialTLS_VerifiesTheCertificate(t *testing.T) {
	t.Parallel()
	there := httptest.NewTLSServer(nil)
	t.Cleanup(there.Close)
	p := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	if c, err := p.DialTLS(t.Context(), there.Listener.Addr().String(), nil); err == nil {
		_ = c.Close()
		t.Error("an unknown certificate is accepted")
	}
}
