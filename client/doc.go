// Package client is Patchbay's JSON API for Go programs.
//
//	c, err := client.New("https://patchbay.example.com", os.Getenv("PATCHBAY_API_KEY"))
//	for connector, err := range c.AllConnectors(ctx, client.ListConnectorsQuery{Status: "failing"}) {
//		…
//	}
//
// Each operation of the OpenAPI document is a method of [Client], and each of its schemas a type: both are generated from it
// (client/internal/generate), so what the document says is what there is. A refusal is a [*Problem] (RFC 9457).
//
// It uses the standard library alone, and keeps to what the API says of itself: it waits where it is told to (429 with Retry-After), and
// makes a request that may have been performed once only.
package client
