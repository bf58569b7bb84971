package toolfmt

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strings"

	"patchbay/internal/jsonschema"
)

// Bounds of one result for a model. What exceeds them is named and left out; the call log has more.
const (
	maxText   = 200_000 // bytes of all texts
	maxBlocks = 100
	maxMedia  = 5 << 20 // bytes of one image or file, Anthropic's limit
)

// resultPart is text, or media that a provider may accept.
type resultPart struct {
	text    string // of media: the text instead, if not accepted
	mime    string // of media; empty: text
	data    string // base64
	isMedia bool
}

type parsedResult struct {
	parts      []resultPart
	structured json.RawMessage // an object, or nil
	isError    bool
}

// contentBlock is one block of a result (MCP 2025-11-25, ContentBlock), with the fields of all types.
type contentBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MIMEType string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Title    string `json:"title"`
	Resource struct {
		URI      string  `json:"uri"`
		MIMEType string  `json:"mimeType"`
		Text     *string `json:"text"`
		Blob     string  `json:"blob"`
	} `json:"resource"`
}

// parseResult parses the result of a tools/call. It does not fail: unreadable parts become text.
func parseResult(result json.RawMessage) parsedResult {
	var r struct {
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    json.RawMessage `json:"isError"`
	}
	result = bytes.ToValidUTF8(bytes.TrimSpace(result), []byte("\uFFFD"))
	if len(result) == 0 || result[0] != '{' || json.Unmarshal(result, &r) != nil {
		return parsedResult{parts: []resultPart{{text: "The tool's result cannot be read."}}, isError: true}
	}
	o := parsedResult{isError: string(r.IsError) == "true"}
	if len(r.Structured) > 0 && r.Structured[0] == '{' {
		o.structured = r.Structured
	}
	var blocks []json.RawMessage
	if json.Unmarshal(r.Content, &blocks) != nil && len(r.Content) > 0 && string(r.Content) != "null" {
		blocks = []json.RawMessage{r.Content} // one block without its list, or a bare string
	}
	for i, raw := range blocks {
		if i == maxBlocks {
			o.parts = append(o.parts, resultPart{text: fmt.Sprintf("[%d more blocks omitted.]", len(blocks)-i)})
			break
		}
		o.parts = append(o.parts, readBlock(raw))
	}
	return o.truncated()
}

func readBlock(raw json.RawMessage) resultPart {
	if raw[0] == '"' {
		return resultPart{text: jsonschema.Unquote(string(raw))}
	}
	var c contentBlock
	if json.Unmarshal(raw, &c) != nil {
		return resultPart{text: "[An unreadable block.]"}
	}
	switch c.Type {
	case "text":
		return resultPart{text: c.Text}
	case "image", "audio":
		return newMedia(c.Type, c.MIMEType, c.Data, "")
	case "resource_link":
		return resultPart{text: linkText(c)}
	case "resource":
		if c.Resource.Text != nil {
			return resultPart{text: "[" + c.Resource.URI + "]\n" + *c.Resource.Text}
		}
		return newMedia("file", c.Resource.MIMEType, c.Resource.Blob, c.Resource.URI)
	}
	return resultPart{text: fmt.Sprintf("[A block of unknown type %q.]", truncateText(c.Type, 40))}
}

func linkText(c contentBlock) string {
	name := c.Title
	if name == "" {
		name = c.Name
	}
	text := "[Resource " + strings.TrimSpace(name) + ": " + c.URI
	if c.MIMEType != "" {
		text += ", " + c.MIMEType
	}
	return text + "]"
}

// newMedia returns an image, audio or file part. Invalid base64 and large media are only named.
func newMedia(what, mimeType, data, uri string) resultPart {
	kind, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		kind = "application/octet-stream"
	}
	size := base64.StdEncoding.DecodedLen(len(data))
	p := resultPart{mime: kind, data: data, isMedia: size > 0 && size <= maxMedia}
	if p.isMedia {
		n, err := base64.StdEncoding.Decode(make([]byte, size), []byte(data))
		size, p.isMedia = n, err == nil && !strings.ContainsAny(data, "\r\n")
	}
	p.text = fmt.Sprintf("[An %s of type %s, %d bytes", what, kind, size)
	if what == "file" {
		p.text = strings.Replace(p.text, "An", "A", 1)
	}
	if uri != "" {
		p.text += ", " + uri
	}
	p.text += ": cannot be shown here.]"
	return p
}

// truncated limits the texts to maxText.
func (o parsedResult) truncated() parsedResult {
	room := maxText
	for i := range o.parts {
		p := &o.parts[i]
		if len(p.text) > room {
			left := len(p.text) - room
			p.text = strings.ToValidUTF8(p.text[:room], "") + fmt.Sprintf(" [… %d more bytes omitted.]", left)
			room = 0
			continue
		}
		room -= len(p.text)
	}
	if len(o.structured) > maxText {
		o.structured = nil
	}
	return o
}

// partsWithStructured adds structured content as text, unless a text repeats it, as servers should (MCP
// 2025-11-25, Structured Content).
func (o parsedResult) partsWithStructured() []resultPart {
	if o.structured == nil || o.hasStructuredText() {
		return o.parts
	}
	return append(o.parts[:len(o.parts):len(o.parts)], resultPart{text: string(o.structured)})
}

func (o parsedResult) hasStructuredText() bool {
	return slices.ContainsFunc(o.parts, func(p resultPart) bool {
		text := strings.TrimSpace(p.text)
		return strings.HasPrefix(text, "{") && json.Valid([]byte(text))
	})
}

func joinText(parts []resultPart) string {
	var all []string
	for _, p := range parts {
		if p.text != "" {
			all = append(all, p.text)
		}
	}
	if all == nil {
		return "(no content)"
	}
	return strings.Join(all, "\n\n")
}
