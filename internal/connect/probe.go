package connect

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
)

// probeTimeout bounds the request to the MCP server. Discovery continues without a response.
const probeTimeout = 10 * time.Second

// StepProbe is the first step of a [Diagnosis]: listing the MCP server's tools without a credential.
const StepProbe oauth.Step = "mcp_server"

// probeResult is the MCP server's response to a request without a credential.
type probeResult struct {
	resourceMetadata string                   // URL of its challenge; empty: none
	scope            string                   // of its challenge
	takesProofs      bool                     // its challenge has the DPoP scheme
	behaviour        connectors.AuthBehaviour // empty: unknown
	step             oauth.TraceStep
}

// probeServer lists tools as a sync does, once and without a credential. A failure is recorded, not returned.
func (b *Broker) probeServer(ctx context.Context, c connectors.Connector) probeResult {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	a := probeResult{step: oauth.TraceStep{Step: StepProbe, URL: shownURL(c.URL)}}
	err := b.listTools(ctx, c)
	failure, _ := errors.AsType[*mcp.Error](err)
	switch {
	case err == nil:
		a.behaviour = connectors.AuthListOpen
		a.step.Status, a.step.Read = http.StatusOK, "a tool list"
		a.step.Decided = "It lists tools without sign-in; trying well-known URLs."
	case failure != nil && failure.Reason == mcp.ReasonUnauthorized:
		a.behaviour = connectors.AuthAll
		a.step.Status = failure.HTTPStatus
		a.addChallenge(failure.Challenges)
	default:
		if failure != nil {
			a.step.Status, a.step.Read = failure.HTTPStatus, probeMessages[failure.Reason]
		}
		a.step.Decided = "No MCP response; trying well-known URLs."
	}
	return a
}

func (b *Broker) listTools(ctx context.Context, c connectors.Connector) error {
	header := make(http.Header, len(c.Headers))
	for name, value := range c.Headers {
		header.Set(name, value)
	}
	session, err := b.dialer.Dial(ctx, mcp.Target{
		URL: c.URL, Transport: mcp.Transport(c.Transport), Header: header, Timeout: min(c.Timeout, probeTimeout), Era: mcp.Era(c.Era),
	})
	if err != nil {
		return err
	}
	defer session.Close(ctx)
	_, err = session.Tools(ctx)
	return err
}

// addChallenge uses the challenge with the most parameters (RFC 9728 section 5.1).
func (a *probeResult) addChallenge(all []mcp.Challenge) {
	const metadata = "resource_metadata"
	a.takesProofs = slices.ContainsFunc(all, func(c mcp.Challenge) bool { return c.Scheme == "dpop" })
	best := slices.IndexFunc(all, func(c mcp.Challenge) bool { return c.Params[metadata] != "" })
	if best < 0 {
		best = slices.IndexFunc(all, func(c mcp.Challenge) bool { return c.Scheme == "bearer" || c.Scheme == "dpop" })
	}
	a.step.Read = "a refusal without a challenge"
	a.step.Decided = "No metadata URL given; trying well-known URLs."
	if best < 0 {
		return
	}
	a.resourceMetadata, a.scope = all[best].Params[metadata], all[best].Params["scope"]
	a.step.Read = "a challenge"
	if a.resourceMetadata != "" {
		a.step.Decided = "The challenge names the metadata."
	}
}

// probeMessages explain responses without a tool list.
var probeMessages = map[mcp.Reason]string{
	mcp.ReasonUnreachable: "no connection",
	mcp.ReasonTimeout:     "a timeout",
	mcp.ReasonTLS:         "no secure connection",
	mcp.ReasonHTTPStatus:  "an error",
	mcp.ReasonProtocol:    "something other than MCP",
	mcp.ReasonRedirect:    "a redirect",
	mcp.ReasonTooLarge:    "too much data",
	mcp.ReasonRPC:         "a JSON-RPC error",

	mcp.ReasonUnsupportedVersion: "an unknown MCP version",
}

// shownURL returns origin and path: a query can hold a secret.
func shownURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}
