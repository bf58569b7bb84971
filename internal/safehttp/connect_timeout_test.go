package safehttp_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/safehttp"
)

func TestWithConnectTimeout_EndsASilentHandshake(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	allow, err := safehttp.ParseAllow(silent.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client := safehttp.New(safehttp.Options{Allow: allow}).ClientFor("tenant")
	own := safehttp.WithConnectTimeout(client, 150*time.Millisecond)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+silent.Addr().String()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := own.Do(req)
	if err == nil {
		_ = resp.Body.Close()
		t.Fatal("a server that says nothing answered")
	}
	if !strings.Contains(err.Error(), "150ms") {
		t.Errorf("%v", err)
	}
	if same := safehttp.WithConnectTimeout(client, 10*time.Second); same != client {
		t.Error("the default timeout changes the client")
	}
}
