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
}

// requestToken sends one token request without retries: a code or a rotating refresh token sent twice can end
// the grant. x/oauth2 writes the request. Its client credentials flow takes every parameter, even the grant type; its
// refresh has no place for the resource. The response is read here: x/oauth2 refuses several forms that are in use.
func (c *Client) requestToken(ctx context.Context, step Step, p Peer, form url.Values) (Token, error) {
	if p.Server.TokenEndpoint == "" {
		return Token{}, &Error{Step: step, Kind: KindProtocol, Detail: "it names no token endpoint"}
	}
	if err := c.checkURL(step, "token endpoint", p.Server.TokenEndpoint); err != nil {
		return Token{}, err
	}
	if p.Resource != "" {
		form.Set("resource", p.Resource)
	}
	auth, failure := c.newClientAuth(step, p)
	if failure != nil {
		return Token{}, failure
	}
	maps.Copy(form, auth.params)
	config := clientcredentials.Config{
		ClientID: p.Client.ClientID, ClientSecret: auth.secret.Reveal(), AuthStyle: auth.style,
		TokenURL: p.Server.TokenEndpoint, EndpointParams: form,
	}
	transport := &tokenTransport{client: c, step: step}
	_, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: transport}))
	switch {
	case transport.failure != nil:
		return Token{}, transport.failure
	case transport.response == nil:
		return Token{}, &Error{Step: step, Kind: KindProtocol, Detail: "the request cannot be encoded", Err: err}
	}
	t, failure := readTokenResponse(step, *transport.response, c.currentTime())
	if failure != nil {
		return Token{}, failure
	}
	return t, nil
}

// tokenTransport sends the request of x/oauth2 by [Client.sendRequest] and keeps the response. x/oauth2 gets an
// empty one.
type tokenTransport struct {
	client   *Client
	step     Step
	response *httpResponse // nil: no response came
	failure  *Error        // nil: none
}

// RoundTrip implements [http.RoundTripper].
func (t *tokenTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	response, failure := t.client.sendBuilt(req.Context(), t.step, req)
	if failure != nil {
		t.failure = failure
		return nil, failure
	}
	t.response = &response
	return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// readTokenResponse also accepts deviations from RFC 6749 section 5: form-encoded, nested, and errors with
// status 200.
func readTokenResponse(step Step, a httpResponse, now time.Time) (Token, *Error) {
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
	t, ok, found := readToken(o, now)
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
