package oauth

import "net/url"

const maxCodeLength = 8 << 10

// ReadCallback reads the parameters of a callback. The caller has found the flow by state; m is the flow's
// server.
//
// iss is checked first (RFC 9207 section 2.4): before the sender is known, neither the code nor an error has a
// meaning.
func ReadCallback(q url.Values, m Metadata) (Secret, error) {
	for _, name := range []string{"state", "iss", "code", "error"} {
		if len(q[name]) > 1 {
			return "", newRefusal(StepCallback, "the response repeats %s", name)
		}
	}
	switch iss := q["iss"]; {
	case len(iss) == 1 && iss[0] != m.Issuer:
		return "", newRefusal(StepCallback, "the response is from another authorization server")
	case len(iss) == 0 && m.IssParameterSupported:
		return "", newRefusal(StepCallback, "the response does not name its authorization server")
	}
	if code := q.Get("error"); code != "" {
		e := &Error{Step: StepCallback}
		e.Code, e.Kind = knownCode(code)
		return "", e
	}
	code := q.Get("code")
	if code == "" || len(code) > maxCodeLength || !isPrintable(code) {
		return "", &Error{Step: StepCallback, Kind: KindProtocol, Detail: "the response has no usable code"}
	}
	return Secret(code), nil
}
