package testclient

import (
	"net/http"
	"testing"
)

// New returns a client with a transport of its own. Its idle connections are closed when the test ends.
func New(t testing.TB) *http.Client {
	t.Helper()
	transport := &http.Transport{DisableCompression: true} // which costs a tenth of a page
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
