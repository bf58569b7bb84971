// Package testclient makes HTTP clients for tests that have no server of their own at hand.
//
// httptest.Server.Close closes the idle connections of http.DefaultTransport. A parallel test that uses
// http.DefaultTransport then fails by chance, with "http: CloseIdleConnections called" or EOF. Where a test has the
// server, [net/http/httptest.Server.Client] is the right client.
package testclient
