package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// Peer has what all requests of one connection share: server, client and resource.
type Peer struct {
	Server   Metadata
	Client   Registration
	Resource string // RFC 8707; empty: not sent
	// Proof binds the requested token; nil: a new key where the server offers it, and none for a refresh.
	Proof *ProofKey
}

// requestToken sends one token request without retries: a code or a rotating refresh token sent twice can end
// the grant. x/oauth2 writes the request. Its client credentials flow takes every parameter, even the grant type; its
// refresh has no place for the resource. The response is read here: x/oauth2 refuses several forms that are in use.
func (c *Client) requestToken(ctx context.Context, step Step, p Peer, form url.Values) (Token, error) {
	response, failure := c.sendTokenRequest(ctx, step, p, form)
	if failure != nil {
		return Token{}, failure
	}
	t, failure := readTokenResponse(step, response, c.currentTime(), p.Proof)
	if failure != nil {
		return Token{}, failure
	}
	return t, nil
}

// sendTokenRequest sends the request of [Client.requestToken] and returns the response as it came.
func (c *Client) sendTokenRequest(ctx context.Context, step Step, p Peer, form url.Values) (httpResponse, *Error) {
	if p.Server.TokenEndpoint == "" {
		return httpResponse{}, &Error{Step: step, Kind: KindProtocol, Detail: "it names no token endpoint"}
	}
	if err := c.checkURL(step, "token endpoint", p.Server.TokenEndpoint); err != nil {
		return httpResponse{}, err
	}
	if p.Resource != "" {
		form.Set("resource", p.Resource)
	}
	auth, failure := c.newClientAuth(step, p)
	if failure != nil {
		return httpResponse{}, failure
	}
	maps.Copy(form, auth.params)
	config := clientcredentials.Config{
		ClientID: p.Client.ClientID, ClientSecret: auth.secret.Reveal(), AuthStyle: auth.style,
		TokenURL: p.Server.TokenEndpoint, EndpointParams: form,
	}
	transport := &tokenTransport{client: c, step: step, proof: p.Proof}
	_, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: transport}))
	switch {
	case transport.failure != nil:
		return httpResponse{}, transport.failure
	case transport.response == nil:
		return httpResponse{}, &Error{Step: step, Kind: KindProtocol, Detail: "the request cannot be encoded", Err: err}
	}
	return *transport.response, nil
}

// requestNewToken is requestToken for a token that no earlier one precedes: it is bound to a new key where the server offers it.
func (c *Client) requestNewToken(ctx context.Context, step Step, p Peer, form url.Values) (Token, error) {
	if failure := p.addNewProof(step); failure != nil {
		return Token{}, failure
	}
	return c.requestToken(ctx, step, p, form)
}

// addNewProof makes a key for a token that no earlier one precedes, where the server offers it.
func (p *Peer) addNewProof(step Step) *Error {
	if p.Proof != nil || !p.Server.offersProofs() {
		return nil
	}
	var err error
	if p.Proof, err = NewProofKey(); err != nil {
		return &Error{Step: step, Kind: KindTemporary, Detail: "no key for proofs could be made", Err: err}
	}
	return nil
}

// tokenTransport sends the request of x/oauth2 by [Client.sendRequest] and keeps the response. x/oauth2 gets an
// empty one.
type tokenTransport struct {
	client   *Client
	step     Step
	proof    *ProofKey     // nil: none is sent
	response *httpResponse // nil: no response came
	failure  *Error        // nil: none
}

// RoundTrip implements [http.RoundTripper].
func (t *tokenTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	response, failure := t.sendProven(req)
	if failure != nil {
		t.failure = failure
		return nil, failure
	}
	t.response = &response
	return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// sendProven sends a request, with a proof if there is a key. A server that wants its nonce in the proof (RFC 9449 section 8) has
// done nothing yet: the request is sent once more.
func (t *tokenTransport) sendProven(req *http.Request) (httpResponse, *Error) {
	if t.proof == nil {
		return t.client.sendBuilt(req.Context(), t.step, req)
	}
	response, nonce, failure := t.sendProof(req)
	if failure != nil || !t.proof.keepNonce(req.URL, response.header, nonce) || !response.wantsNonce() {
		return response, failure
	}
	again := req.Clone(req.Context())
	var err error
	if again.Body, err = req.GetBody(); err != nil {
		return httpResponse{}, &Error{Step: t.step, Kind: KindProtocol, Detail: "the request cannot be encoded", Err: err}
	}
	if response, nonce, failure = t.sendProof(again); failure == nil {
		t.proof.keepNonce(req.URL, response.header, nonce)
	}
	return response, failure
}

// sendProof sends a request with a new proof, and returns the nonce in it.
func (t *tokenTransport) sendProof(req *http.Request) (response httpResponse, nonce string, failure *Error) {
	own := req.Clone(req.Context())
	nonce, err := t.proof.addProof(own, "", t.client.currentTime())
	if err != nil {
		return httpResponse{}, "", &Error{Step: t.step, Kind: KindProtocol, Detail: "the proof cannot be signed", Err: err}
	}
	response, failure = t.client.sendBuilt(own.Context(), t.step, own)
	return response, nonce, failure
}

// wantsNonce reports whether a token endpoint asks for a proof with its nonce.
func (a httpResponse) wantsNonce() bool {
	if a.status != http.StatusBadRequest && a.status != http.StatusUnauthorized {
		return false
	}
	o, ok := readResponseObject(a.body)
	code, _ := responseError(o)
	return ok && code == "use_dpop_nonce"
}

// readTokenResponse also accepts deviations from RFC 6749 section 5: form-encoded, nested, and errors with
// status 200.
func readTokenResponse(step Step, a httpResponse, now time.Time, proof *ProofKey) (Token, *Error) {
	if a.isTemporary() || a.status >= 300 && a.status < 400 {
		return Token{}, a.toError(step) // whatever the body: a gateway wrote it
	}
	o, ok := readResponseObject(a.body)
	if !ok {
		e := a.toError(step)
		if a.isOK() {
			e.Detail = "answered with " + readFailure(a)
		}
		if a.isOK() && !isHTML(a.body) {
			e.Response = "" // it may hold a token in a form of its own
		}
		return Token{}, e
	}
	if code, is := responseError(o); is || !a.isOK() {
		return Token{}, newCodedError(step, a, code)
	}
	t, ok, found := readToken(o, now, proof)
	switch {
	case !found:
		return Token{}, &Error{Step: step, Kind: KindProtocol, HTTPStatus: a.status, Detail: "answered without an access token"}
	case !ok:
		return Token{}, &Error{Step: step, Kind: KindProtocol, HTTPStatus: a.status, Detail: "returned a token that is not a bearer token"}
	}
	return t, nil
}

func newCodedError(step Step, a httpResponse, code string) *Error {
	e := a.toError(step)
	if code == "" {
		return e // an error status with an unknown body
	}
	e.Detail = ""
	e.Code, e.Kind = knownCode(code)
	if e.Code == "" && a.status == http.StatusUnauthorized {
		e.Kind = KindClient // RFC 6749 section 5.2: at a token endpoint, 401 is about the client
	}
	return e
}

// readResponseObject parses JSON, or a form with the fields in use.
func readResponseObject(body []byte) (jsonObject, bool) {
	if o, ok := readObject(body); ok {
		return o, true
	}
	text := bytes.TrimSpace(body)
	if isHTML(text) || bytes.IndexByte(text, '=') < 0 || bytes.ContainsAny(text, " \r\n{") {
		return nil, false
	}
	values, err := url.ParseQuery(string(text))
	if err != nil || !values.Has("access_token") && !values.Has("error") {
		return nil, false
	}
	o := jsonObject{}
	for name := range values {
		if raw, err := json.Marshal(values.Get(name)); err == nil {
			o[name] = raw
		}
	}
	return o, true
}

// responseError returns the error field, a text or, against the RFC, an object with a code. is reports whether
// there is one.
func responseError(o jsonObject) (code string, is bool) {
	raw := bytes.TrimSpace(o["error"])
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) || bytes.Equal(raw, []byte(`""`)) || bytes.Equal(raw, []byte("false")) {
		return "", false
	}
	if code := o.textField("error"); code != "" {
		return code, true
	}
	if inner, ok := o.objectField("error"); ok {
		for _, name := range []string{"code", "error", "type"} {
			if code := inner.textField(name); code != "" {
				return code, true
			}
		}
	}
	return "unknown", true
}
