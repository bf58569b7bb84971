package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"patchbay/internal/fault"
	"patchbay/internal/jsonschema"
	"patchbay/internal/openapi"
)

// Bounds of a request.
const (
	MaxArguments = 16 << 20     // bytes
	maxBody      = MaxArguments // where arguments may repeat
	maxURL       = 16 << 10
	maxHeader    = 8 << 10 // of one value
	maxLevels    = 64      // of arguments that are serialised
	maxValues    = 200_000 // of arguments, and of an answer that has pages
)

// Request is a request without its credential.
type Request struct {
	Method     string
	URL        string
	Header     http.Header
	Body       []byte
	Idempotent bool // it may be sent again

	address *url.URL // of URL
	once    bool     // it is sent once at most, so that its header needs no copy
}

// HTTP returns the request for a client. It is called again only for an idempotent request, and for the next page.
func (r *Request) HTTP(ctx context.Context) (*http.Request, error) {
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, "", body)
	if err != nil {
		return nil, err
	}
	*request.URL, request.Host, request.Header = *r.address, r.address.Host, r.Header
	if !r.once {
		request.Header = r.Header.Clone()
	}
	return request, nil
}

// arguments are the arguments of a call by name.
type arguments struct{ *jsonschema.Node }

func readArguments(text json.RawMessage) (arguments, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return arguments{jsonschema.NewObject()}, nil
	}
	root, whole := jsonschema.Decode(text, jsonschema.Limits{Bytes: MaxArguments, Values: maxValues, Depth: maxLevels})
	switch {
	case !whole && root != nil:
		return arguments{}, fault.Errorf(fault.TooLarge, "The arguments have more than 200,000 values.")
	case !whole:
		return arguments{}, fault.Errorf(fault.TooLarge, "The arguments are too large.")
	case !root.Is(jsonschema.Object):
		return arguments{}, fault.Errorf(fault.Invalid, "The arguments must be an object.")
	}
	return arguments{root}, nil
}

// Find returns an argument; nil: it is not given. null counts as not given.
func (a arguments) Find(name string) *jsonschema.Node {
	v := a.Node.Find(name)
	if v.Is(jsonschema.Null) {
		return nil
	}
	return v
}

func argumentError(name, what string) error {
	return fault.Errorf(fault.Invalid, "The argument %q %s.", name, what)
}

// Build makes the request of a call. The error is a fault with a sentence for the model.
func Build(b *openapi.Binding, text json.RawMessage) (*Request, error) {
	args, err := readArguments(text)
	if err != nil {
		return nil, err
	}
	return buildRequest(b, args)
}

func buildRequest(b *openapi.Binding, args arguments) (*Request, error) {
	if err := checkNames(b, args); err != nil {
		return nil, err
	}
	r := &Request{Method: b.Method, Header: http.Header{}, Idempotent: openapi.IsIdempotent(b.Method)}
	r.once = !r.Idempotent && b.Pages == nil
	if b.Accept != "" {
		r.Header.Set("Accept", b.Accept)
	}
	path, err := buildPath(b, args)
	if err != nil {
		return nil, err
	}
	r.URL = b.Server + path
	query, err := buildQuery(b, args)
	if err != nil {
		return nil, err
	}
	if query != "" {
		r.URL += "?" + query
	}
	if r.address, err = parseURL(r.URL, b); err != nil {
		return nil, err
	}
	if err := r.addHeaders(b, args); err != nil {
		return nil, err
	}
	return r, r.addBody(b.Body, args)
}

// checkNames refuses arguments that the binding does not have, those that it cannot send, and calls without those that it requires.
func checkNames(b *openapi.Binding, args arguments) error {
	for _, p := range b.Parameters {
		switch v := args.Find(p.Argument); {
		case p.Argument == "":
		case v == nil && p.Required:
			return argumentError(p.Argument, "is missing")
		case v != nil && !carriesValue(p, v):
			return argumentError(p.Argument, "has an item with the delimiter of its list, which the API could not tell apart")
		}
	}
	if b.Body != nil && b.Body.Required && b.Body.Argument != "" && args.Node.Find(b.Body.Argument) == nil {
		return argumentError(b.Body.Argument, "is missing")
	}
	for _, m := range args.Members {
		if m.Name == "" || !hasArgument(b, m.Name) {
			return argumentError(cutText(m.Name, 64), "isn't a parameter of this tool")
		}
	}
	return nil
}

// hasArgument reports whether a binding sends an argument.
func hasArgument(b *openapi.Binding, name string) bool {
	if b.Body != nil && (b.Body.Argument == name || findField(b.Body, name) != nil) {
		return true
	}
	return slices.ContainsFunc(b.Parameters, func(p openapi.Parameter) bool { return p.Argument == name })
}

// parseURL refuses a request that leads elsewhere than its template: no argument can make one, and this does not rely on it.
func parseURL(text string, b *openapi.Binding) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, newURLError()
	}
	u, err := url.Parse(text)
	s, serverErr := b.ServerURL()
	if err != nil || serverErr != nil || u.Host != s.Host || u.Scheme != s.Scheme || u.User != nil || !strings.HasPrefix(u.EscapedPath(), s.EscapedPath()) {
		return nil, fault.Errorf(fault.Invalid, "The arguments don't form a valid URL.")
	}
	return u, nil
}

func newURLError() error {
	return fault.Errorf(fault.Invalid, "The arguments produce a URL that's too long.")
}

// buildPath fills the template of the path.
func buildPath(b *openapi.Binding, args arguments) (string, error) {
	path := b.Path
	if !strings.ContainsAny(path, "{.%") {
		return path, nil // no variable, and no segment with dots
	}
	out := output{limit: maxURL}
	for path != "" && !out.full {
		literal, rest, variable := strings.Cut(path, "{")
		out.writeText(literal)
		if !variable {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		path = after
		if err := fillSegment(&out, b, args, name); err != nil {
			return "", err
		}
	}
	if out.full {
		return "", newURLError()
	}
	filled := string(out.text)
	for segment := range strings.SplitSeq(filled, "/") {
		if isDotSegment(segment) {
			return "", fault.Errorf(fault.Invalid, "The arguments would change the path of the request.")
		}
	}
	return filled, nil
}

// fillSegment writes the text for a variable of the path. An empty one would address another resource.
func fillSegment(out *output, b *openapi.Binding, args arguments, name string) error {
	for _, p := range b.Parameters {
		if p.In != "path" || p.Name != name {
			continue
		}
		v := args.Find(p.Argument)
		if v == nil {
			return argumentError(p.Argument, "is missing")
		}
		if hasDotSegment(v) {
			return argumentError(p.Argument, "leads out of the path of this tool")
		}
		before := len(out.text)
		out.escape = escapeFor(p)
		out.writeStyled(p, v)
		if !out.full && strings.Trim(string(out.text[before:]), ".;=") == "" && strings.Trim(scalarText(v), ".") == "" {
			return argumentError(p.Argument, "must not be empty")
		}
		return nil
	}
	return fault.Errorf(fault.Internal, "The path has a variable without a parameter.")
}

// buildQuery writes the query.
func buildQuery(b *openapi.Binding, args arguments) (string, error) {
	out := output{limit: maxURL, separator: "&"}
	for _, p := range b.Parameters {
		if p.In != "query" && p.In != "querystring" {
			continue
		}
		if p.Argument == "" {
			out.startPair(escapeText(p.Name))
			out.writeText(escapeText(p.Value))
			continue
		}
		v := args.Find(p.Argument)
		switch {
		case v == nil:
		case p.In == "querystring":
			out.writeQueryString(p, v)
		default:
			out.escape = escapeFor(p)
			out.addPairs(p, v)
		}
	}
	if out.full {
		return "", newURLError()
	}
	return string(out.text), nil
}

// addHeaders sets headers and cookies.
func (r *Request) addHeaders(b *openapi.Binding, args arguments) error {
	var cookies []string
	for _, p := range b.Parameters {
		if p.In != "header" && p.In != "cookie" {
			continue
		}
		out := newHeaderOutput(p)
		v := args.Find(p.Argument)
		switch {
		case p.Argument != "" && v == nil:
			continue
		case p.Argument == "" && p.In == "cookie":
			out.writeText(p.Name, "=", p.Value)
		case p.Argument == "":
			out.writeText(p.Value)
		case p.In == "cookie":
			out.addPairs(p, v)
		default:
			out.writeStyled(p, v)
		}
		text := string(out.text)
		if p.In == "header" {
			text = strings.TrimSpace(text)
		}
		if out.full || !httpguts.ValidHeaderFieldValue(text) || openapi.IsRefusedHeader(p.Name) && p.In == "header" {
			return argumentError(p.Argument, "cannot be the value of a header")
		}
		if p.In == "header" {
			r.Header.Set(p.Name, text)
		} else if text != "" {
			cookies = append(cookies, text)
		}
	}
	if len(cookies) > 0 {
		r.Header.Set("Cookie", strings.Join(cookies, "; "))
	}
	return nil
}
