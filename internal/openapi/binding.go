package openapi

import (
	"encoding/json"
	"net/url"

	"patchbay/internal/fault"
)

// BindingVersion is the version of the form of a binding.
const BindingVersion = 1

// Binding is all that a call of a tool needs, beside its credential. Its JSON is compact and canonical: one operation of one
// document has always the same bytes.
type Binding struct {
	Version    int         `json:"v"`
	Method     string      `json:"method"`
	Server     string      `json:"server"` // scheme, host and path of the API, without a slash at the end
	Path       string      `json:"path"`   // a template, encoded outside its braces
	Parameters []Parameter `json:"parameters,omitempty"`
	Body       *Body       `json:"body,omitempty"`
	Accept     string      `json:"accept,omitempty"`
	Result     ResultForm  `json:"result,omitempty"`
	// Security has the alternatives of the document. Any is enough; empty: no credential is needed.
	Security [][]BoundScheme `json:"security,omitempty"`
	Pages    *Pages          `json:"pages,omitempty"`
	Filter   string          `json:"filter,omitempty"` // jq

	server    *url.URL // nil: ReadBinding did not make this one
	serverRaw string   // that server was parsed from
}

// ServerURL returns the address of the API. It must not be changed.
func (b *Binding) ServerURL() (*url.URL, error) {
	if b.server != nil && b.serverRaw == b.Server {
		return b.server, nil
	}
	return url.Parse(b.Server)
}

// Parameter is a value of the path, the query, the headers or the cookies.
type Parameter struct {
	Argument string `json:"argument,omitempty"` // empty: Value is constant
	Name     string `json:"name"`
	In       string `json:"in"` // path, query, querystring, header or cookie
	Style    string `json:"style,omitempty"`
	Explode  bool   `json:"explode,omitempty"`
	Reserved bool   `json:"reserved,omitempty"` // reserved characters stay as they are
	Media    string `json:"media,omitempty"`    // of a value that is serialised as content; then it has no style
	Required bool   `json:"required,omitempty"`
	Value    string `json:"value,omitempty"`
}

// Body is the body of a request.
type Body struct {
	Media    string          `json:"media"`
	Required bool            `json:"required,omitempty"`
	Argument string          `json:"argument,omitempty"` // one value for all of the body; empty: Fields
	Fields   []Field         `json:"fields,omitempty"`
	File     bool            `json:"file,omitempty"`     // the value is a file
	Template json.RawMessage `json:"template,omitempty"` // of an endpoint by hand; strings have {placeholders}
}

// Field is a member of a JSON object, or a field of a form.
type Field struct {
	Argument string `json:"argument"`
	Name     string `json:"name"`
	File     bool   `json:"file,omitempty"`
	Style    string `json:"style,omitempty"` // of a form; empty: by Media or by the kind of value
	Explode  bool   `json:"explode,omitempty"`
	Reserved bool   `json:"reserved,omitempty"`
	Media    string `json:"media,omitempty"` // of a part, or of a field that is serialised as content
}

// ResultForm says how the answer becomes structured content.
type ResultForm string

// The forms.
const (
	ResultText    ResultForm = ""        // none: the tool has no output schema
	ResultObject  ResultForm = "object"  // the answer is an object
	ResultWrapped ResultForm = "wrapped" // the answer is the member result
)

// BoundScheme is a scheme that a call may need, with what says where the credential goes.
type BoundScheme struct {
	Scheme    string     `json:"scheme"`
	Type      SchemeType `json:"type"`
	In        string     `json:"in,omitempty"`
	Parameter string     `json:"parameter,omitempty"`
	Scopes    []string   `json:"scopes,omitempty"`
}

// Pages say how further pages of an answer are read.
type Pages struct {
	Kind     PageKind `json:"kind"`
	Argument string   `json:"argument,omitempty"` // that gets the cursor, the page or the offset
	Next     string   `json:"next,omitempty"`     // JSON pointer to the cursor or the address of the next page in the answer
	Items    string   `json:"items,omitempty"`    // JSON pointer to the list; empty: the answer is the list
	First    int      `json:"first,omitempty"`    // number of the first page
	Max      int      `json:"max"`                // pages that are read
}

// PageKind is a way to page.
type PageKind string

// The ways.
const (
	PageLink   PageKind = "link"   // Link header with rel=next (RFC 8288), or an address in the answer
	PageCursor PageKind = "cursor" // a value of the answer is an argument of the next request
	PageNumber PageKind = "page"   // an argument counts pages
	PageOffset PageKind = "offset" // an argument counts items
)

// MaxPages bounds the pages of one call.
const MaxPages = 20

// JSON returns the canonical document.
func (b *Binding) JSON() json.RawMessage {
	text, err := json.Marshal(b)
	if err != nil {
		panic(err) // a template that is no JSON: ReadBinding and Endpoint check it
	}
	return text
}

// ReadBinding reads a document of [Binding.JSON].
func ReadBinding(document []byte) (*Binding, error) {
	b := &Binding{}
	if err := json.Unmarshal(document, b); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The tool's stored request isn't valid. Sync the connector's tools.")
	}
	if b.Version != BindingVersion {
		return nil, fault.Errorf(fault.Invalid, "The tool's stored request has an unknown version. Sync the connector's tools.")
	}
	server, err := url.Parse(b.Server)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The tool's stored request isn't valid. Sync the connector's tools.")
	}
	b.server, b.serverRaw = server, b.Server
	return b, nil
}
