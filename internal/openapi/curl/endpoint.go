package curl

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"patchbay/internal/fault"
	"patchbay/internal/jsonschema"
	"patchbay/internal/openapi"
)

// endpointBuilder makes an endpoint of the options.
type endpointBuilder struct {
	options    *commandLine
	command    Command
	properties *jsonschema.Node
}

func (o *commandLine) toCommand() (*Command, error) {
	b := endpointBuilder{options: o, properties: jsonschema.NewObject()}
	b.command.Notes = o.notes
	b.takeCredential()
	if err := b.setURL(); err != nil {
		return nil, err
	}
	b.setBody()
	e := &b.command.Endpoint
	e.Method = b.chooseMethod()
	e.Headers = o.headers
	e.Input = jsonschema.NewObject().Set("type", jsonschema.NewString("object")).Set("properties", b.properties).AppendTo(nil)
	e.Name = nameEndpoint(e.Method, e.URL)
	if _, err := e.Tool(); err != nil {
		return nil, err
	}
	return &b.command, nil
}

func (b *endpointBuilder) chooseMethod() string {
	o := b.options
	switch {
	case o.method != "":
		return o.method
	case o.head:
		return "HEAD"
	case o.get:
		return "GET"
	case o.upload:
		return "PUT"
	case len(o.data) > 0 || len(o.form) > 0:
		return "POST"
	}
	return "GET"
}

// secretName is a name of a header or parameter that carries a secret.
var secretName = regexp.MustCompile(`(?i:(^|[-_])(api[-_]?key|access[-_]?key|auth|authorization|token|secret|password|signature|sig|jwt|session|key|pass|credentials?)$|apikey|appkey|apitoken|authtoken|accesstoken)` +
	`|[a-z](Token|Secret|Password|Signature|Key)$`)

// privateName is a name of an argument that may be private, though it is no credential of the connector.
var privateName = regexp.MustCompile(`(?i)(^|[-_])(code|otp|pin|pwd|pass|passwd|passphrase|passcode|credentials?|cookie)$`)

// hasSecret reports whether a value may have a secret, by the names in it.
func hasSecret(name string, v *jsonschema.Node) bool {
	if secretName.MatchString(name) || privateName.MatchString(name) {
		return true
	}
	return slices.ContainsFunc(v.Members, func(m jsonschema.Member) bool { return hasSecret(m.Name, m.Value) }) ||
		slices.ContainsFunc(v.Items, func(item *jsonschema.Node) bool { return hasSecret("", item) })
}

// isOpaque reports whether a text, as a segment of a path or the value of a header, has what looks like a secret: a long word with digits
// and letters of both cases, or of long hexadecimal digits; or a shorter such word in a long text without spaces, as in a:b.
func isOpaque(text string) bool {
	for part := range strings.FieldsSeq(text) {
		for _, word := range otherCharacters.Split(part, -1) {
			isMixed := strings.ContainsAny(word, "0123456789") && strings.ToLower(word) != word && strings.ToUpper(word) != word
			if len(word) >= 32 && identifier.MatchString(word) || isMixed && len(part) >= 20 && len(word) >= 8 {
				return true
			}
		}
	}
	return false
}

// conditionalHeaders have the value of an ETag, which looks like a secret.
var conditionalHeaders = []string{"if-match", "if-none-match", "if-range"}

// hideHeader returns a header with an argument as its value if it may have a secret.
func (b *endpointBuilder) hideHeader(h openapi.Header) openapi.Header {
	isPrivate := privateName.MatchString(h.Name) || isOpaque(h.Value) || privateHeader.MatchString(h.Name)
	if !isPrivate || slices.Contains(conditionalHeaders, strings.ToLower(h.Name)) || openapi.IsRefusedHeader(h.Name) {
		return h
	}
	b.command.Notes = append(b.command.Notes, "A header looks like it has a secret. Its value is now an argument.")
	return openapi.Header{Name: h.Name, Value: "{" + b.addProperty(h.Name, textSchema()) + "}"}
}

// privateHeader is a name of a header with one half of a credential.
var privateHeader = regexp.MustCompile(`(?i)(^|[-_])auth[-_]?(user|email|id)$`)

// takeCredential takes credentials out of the options. The first is kept.
func (b *endpointBuilder) takeCredential() {
	o := b.options
	if o.user != "" {
		b.addCredential(Credential{Type: openapi.SchemeBasic, Value: o.user})
	}
	if o.bearer != "" {
		b.addCredential(Credential{Type: openapi.SchemeBearer, Value: o.bearer})
	}
	kept := o.headers[:0:0]
	for _, h := range o.headers {
		if secretName.MatchString(h.Name) || strings.EqualFold(h.Name, "Proxy-Authorization") {
			b.addCredential(headerCredential(h))
		} else if !openapi.IsRefusedHeader(h.Name) || strings.EqualFold(h.Name, "Content-Type") || strings.EqualFold(h.Name, "Accept") {
			kept = append(kept, b.hideHeader(h))
		}
	}
	o.headers = kept
}

func headerCredential(h openapi.Header) Credential {
	scheme, value, _ := strings.Cut(h.Value, " ")
	if strings.EqualFold(h.Name, "Authorization") {
		switch strings.ToLower(scheme) {
		case "bearer":
			return Credential{Type: openapi.SchemeBearer, Value: strings.TrimSpace(value)}
		case "basic":
			if text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value)); err == nil {
				return Credential{Type: openapi.SchemeBasic, Value: string(text)}
			}
		}
	}
	return Credential{Type: openapi.SchemeAPIKey, In: "header", Name: h.Name, Value: h.Value}
}

func (b *endpointBuilder) addCredential(c Credential) {
	if b.command.Credential == nil {
		b.command.Credential = &c
		return
	}
	b.command.Notes = append(b.command.Notes, "The command has more than one credential. Only the first was kept.")
}

// identifier is a segment of a path that names one of many things.
var identifier = regexp.MustCompile(`^([0-9]+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{24,64})$`)

// setURL sets the URL with placeholders.
func (b *endpointBuilder) setURL() error {
	address := b.options.address
	if !strings.Contains(address, "://") {
		address = "http://" + address // as curl does
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return fault.Errorf(fault.Invalid, "The command has no valid URL.")
	}
	if isOpaque(u.Host) {
		return fault.Errorf(fault.Invalid, "The URL's host looks like it has a secret, which everyone could read.")
	}
	if u.User != nil {
		password, _ := u.User.Password()
		b.addCredential(Credential{Type: openapi.SchemeBasic, Value: u.User.Username() + ":" + password})
	}
	segments := strings.Split(u.EscapedPath(), "/")
	for i, segment := range segments {
		if isOpaque(segment) {
			segments[i] = "{" + b.addProperty("secret", textSchema()) + "}"
			b.command.Notes = append(b.command.Notes, "Part of the path looks like a secret. It's now an argument.")
		} else if identifier.MatchString(segment) && i > 0 {
			name := b.addArgument(identifierName(segments[i-1]), jsonschema.NewString(segment))
			segments[i] = "{" + name + "}"
		} else {
			segments[i] = strings.NewReplacer("{", "%7B", "}", "%7D").Replace(segment)
		}
	}
	out := u.Scheme + "://" + u.Host + strings.Join(segments, "/")
	query := u.RawQuery
	if b.options.get && len(b.options.data) > 0 {
		query = strings.TrimPrefix(query+"&"+strings.Join(b.options.data, "&"), "&")
		b.options.data = nil
	}
	if pairs := b.readQuery(query); len(pairs) > 0 {
		out += "?" + strings.Join(pairs, "&")
	}
	b.command.Endpoint.URL = out
	return nil
}

// readQuery returns the query with placeholders, without secrets.
func (b *endpointBuilder) readQuery(query string) (pairs []string) {
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		if pair == "" || nameErr != nil || valueErr != nil {
			continue
		}
		if secretName.MatchString(name) {
			b.addCredential(Credential{Type: openapi.SchemeAPIKey, In: "query", Name: name, Value: value})
			continue
		}
		pairs = append(pairs, url.QueryEscape(name)+"={"+b.addArgument(name, jsonschema.NewString(value))+"}")
	}
	return pairs
}

// identifierName names an identifier after the collection before it: users/7 is user_id.
func identifierName(collection string) string {
	name := argumentName(collection)
	switch {
	case name == "" || identifier.MatchString(collection):
		return "id"
	case strings.HasSuffix(name, "ies"):
		name = strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss"):
		name = strings.TrimSuffix(name, "s")
	}
	return name + "_id"
}

var otherCharacters = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// argumentName makes a name of letters, digits and underscores that begins with a letter. Empty: nothing is left.
func argumentName(text string) string {
	name := strings.Trim(otherCharacters.ReplaceAllString(text, "_"), "_")
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		name = "n" + name
	}
	return name[:min(len(name), 50)]
}

// addArgument adds an argument with the value of the command as its example, unless that may be secret, and returns its name.
func (b *endpointBuilder) addArgument(name string, example *jsonschema.Node) string {
	schema := inferSchema(example)
	if hasSecret(name, example) {
		schema.Drop("examples")
	}
	return b.addProperty(name, schema)
}

// addProperty adds an argument, and returns its name.
func (b *endpointBuilder) addProperty(name string, schema *jsonschema.Node) string {
	base := argumentName(name)
	if base == "" {
		base = "value"
	}
	unique := base
	for n := 2; b.properties.Get(unique) != nil; n++ {
		unique = base + "_" + strconv.Itoa(n)
	}
	b.properties.Set(unique, schema)
	return unique
}

// textSchema returns the schema of text without an example.
func textSchema() *jsonschema.Node {
	return jsonschema.NewObject().Set("type", jsonschema.NewString("string"))
}

// inferSchema returns the schema of a value.
func inferSchema(v *jsonschema.Node) *jsonschema.Node {
	kinds := map[jsonschema.Kind]string{
		jsonschema.String: "string", jsonschema.Number: "number", jsonschema.True: "boolean", jsonschema.False: "boolean",
		jsonschema.Object: "object", jsonschema.Array: "array",
	}
	schema := jsonschema.NewObject()
	if kind := kinds[v.Kind]; kind != "" {
		schema.Set("type", jsonschema.NewString(kind))
	}
	if v.EstimateSize(500) <= 500 {
		schema.Set("examples", jsonschema.NewArray(v))
	}
	return schema
}

// nameEndpoint names an endpoint after its method and the fixed words of its path.
func nameEndpoint(method, address string) string {
	_, path, _ := strings.Cut(address, "://")
	_, path, _ = strings.Cut(path, "/")
	path, _, _ = strings.Cut(path, "?")
	words := []string{strings.ToLower(method)}
	for segment := range strings.SplitSeq(path, "/") {
		if word := argumentName(segment); word != "" && !strings.HasPrefix(segment, "{") {
			words = append(words, word)
		}
	}
	name := argumentName(strings.ReplaceAll(strings.Join(words, "_"), "__", "_"))
	if name == "" {
		return "call"
	}
	return name
}
