package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Peer is who is asked, by whom, for what: the part that all requests of one connection share.
type Peer struct {
	Server   Metadata
	Client   Registration
	Resource string // RFC 8707; empty: none is sent
}

// requestToken sends one token request. It is never repeated here: a code or a rotating refresh token that is sent twice
// can end the whole grant.
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
	header := http.Header{}
	if err := c.authenticate(step, p, form, header); err != nil {
		return Token{}, err
	}
	a, failure := c.send(ctx, request{step: step, url: p.Server.TokenEndpoint, form: form, header: header})
	if failure != nil {
		return Token{}, failure
	}
	t, failure := readTokenAnswer(step, a, c.now())
	if failure != nil {
		return Token{}, failure
	}
	return t, nil
}

// readTokenAnswer reads what servers send in place of RFC 6749 §5, too: form-encoded, nested, and errors with status 200.
func readTokenAnswer(step Step, a answer, now time.Time) (Token, *Error) {
	if a.isTemporary() || a.status >= 300 && a.status < 400 {
		return Token{}, a.refusal(step) // whatever the body says: a gateway's word is not the server's
	}
	o, ok := readAnswerObject(a.body)
	if !ok {
		e := a.refusal(step)
		if a.ok() {
			e.Detail = "answered with " + readFailure(a)
		}
		return Token{}, e
	}
	if code, is := answerError(o); is || !a.ok() {
		return Token{}, namedRefusal(step, a, code)
	}
	t, ok, found := readToken(o, now)
	switch {
	case !found:
		return Token{}, &Error{Step: step, Kind: KindProtocol, HTTPStatus: a.status, Detail: "answered without an access token"}
	case !ok:
		return Token{}, &Error{Step: step, Kind: KindProtocol, HTTPStatus: a.status, Detail: "gave a token that is no bearer token"}
	}
	return t, nil
}

func namedRefusal(step Step, a answer, code string) *Error {
	e := a.refusal(step)
	if code == "" {
		return e // an error status, and a body that says nothing we know
	}
	e.Detail = ""
	e.Code, e.Kind = knownCode(code)
	if e.Code == "" && a.status == http.StatusUnauthorized {
		e.Kind = KindClient // RFC 6749 §5.2: at a token endpoint, 401 is about the client
	}
	return e
}

// readAnswerObject reads JSON, or a form with the fields that matter.
func readAnswerObject(body []byte) (object, bool) {
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
	o := object{}
	for name := range values {
		if raw, err := json.Marshal(values.Get(name)); err == nil {
			o[name] = raw
		}
	}
	return o, true
}

// answerError is what stands in error, as a text or, against the RFC, as an object with a code. is tells that something
// does.
func answerError(o object) (code string, is bool) {
	raw := bytes.TrimSpace(o["error"])
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) || bytes.Equal(raw, []byte(`""`)) || bytes.Equal(raw, []byte("false")) {
		return "", false
	}
	if code := o.text("error"); code != "" {
		return code, true
	}
	if inner, ok := o.below("error"); ok {
		for _, name := range []string{"code", "error", "type"} {
			if code := inner.text(name); code != "" {
				return code, true
			}
		}
	}
	return "unknown", true
}
