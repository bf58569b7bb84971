//go:build e2e

package e2e_test

import (
	"net/http"
	"time"
)

// localTransport connects to the processes and servers of all tests. httptest.Server.Close closes the idle connections
// of http.DefaultTransport, under the requests of parallel tests; it does not know this one.
var localTransport = &http.Transport{IdleConnTimeout: 90 * time.Second}

// localClient is an HTTP client without cookies.
var localClient = &http.Client{Transport: localTransport}
