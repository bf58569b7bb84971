// Package client is a Go client of Patchbay's JSON API.
//
//	c, err := client.New("https://patchbay.example.com", os.Getenv("PATCHBAY_API_KEY"))
//	for connector, err := range c.AllConnectors(ctx, client.ListConnectorsQuery{Status: "error"}) {
//		…
//	}
//
// Each operation of the OpenAPI document is a method of [Client], and each schema a type, both generated
// (client/internal/generate). An error of the API is a [*Problem] (RFC 9457).
//
// It uses the standard library alone. It waits for Retry-After of a 429, and sends a request that may have been
// performed only once.
package client
