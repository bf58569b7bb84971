package main

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/config"
	"patchbay/internal/testing/egressproxy"
)

func TestTheDoctorTriesTheEgressProxy(t *testing.T) {
	t.Parallel()
	fine := egressproxy.New(t, egressproxy.Options{User: "patch", Pass: "hunter2"})
	gone := egressproxy.New(t, egressproxy.Options{})
	gone.Close()
	none := egressproxy.New(t, egressproxy.Options{Answer: func(w http.ResponseWriter, _ *http.Request) bool {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = c.Close()
		}
		return true
	}})
	for address, want := range map[string]string{
		"":                                "",
		fine.Address("patch:hunter2@"):    "OK       egress proxy   " + fine.URL + " answers",
		fine.Address("patch:hunter2no@"):  "PROBLEM  egress proxy   " + fine.URL + ": The egress proxy refused Patchbay's user name and password (407).",
		gone.Address("patch:hunter2@"):    "PROBLEM  egress proxy   " + gone.URL + ": The egress proxy cannot be reached.",
		none.Address("patch:hunter2@"):    "PROBLEM  egress proxy   " + none.URL + ": The egress proxy did not answer as a proxy does.",
		"socks5://hunter2@127.0.0.1:1080": "PROBLEM  egress proxy   PATCHBAY_EGRESS_PROXY must be the address of an HTTP proxy",
	} {
		server, err := config.ServerFlags{EgressProxy: address}.Check()
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		e := &examination{out: program{stdout: &said}}
		e.proxy(t.Context(), server)
		if got := said.String(); !strings.HasPrefix(got, want) || (want == "") != (got == "") || strings.Contains(got, "hunter2") {
			t.Errorf("%s:\n%s", address, got)
		}
	}
}
