package toolfmt

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strings"
)

// The bounds of what a model is told of one result. What is beyond is named and left out: the history of calls has more.
const (
	maxText   = 200_000 // bytes, of all texts together
	maxBlocks = 100
	maxMedia  = 5 << 20 // bytes of one image or file, as Anthropic's limit is
)

// part is a piece of a result: a text, or a medium that a provider may be able to take.
type part struct {
	text  string // what stands for a medium where it cannot be taken
	mime  string // of a medium; empty: a text
	data  string // base64
	media bool
}

// outcome is what a tool answered, taken apart.
type outcome struct {
	parts      []part
	structured json.RawMessage // an object, or nil
	failed     bool
}

// content is one block of a result (MCP 2025-11-25, ContentBlock), with the fields of all its types.
type content struct {
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

// read takes the result of a tools/call apart. It does not fail: what cannot be read is said in words.
func read(result json.RawMessage) outcome {
	var r struct {
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    json.RawMessage `json:"isError"`
	}
	result = bytes.ToValidUTF8(bytes.TrimSpace(result), []byte("\uFFFD"))
	if len(result) == 0 || result[0] != '{' || json.Unmarshal(result, &r) != nil {
		return outcome{parts: []part{{text: "The tool's answer cannot be read."}}, failed: true}
	}
	o := outcome{failed: string(r.IsError) == "true"}
	if len(r.Structured) > 0 && r.Structured[0] == '{' {
		o.structured = r.Structured
	}
	var blocks []json.RawMessage
	if json.Unmarshal(r.Content, &blocks) != nil && len(r.Content) > 0 && string(r.Content) != "null" {
		blocks = []json.RawMessage{r.Content} // one block without its list, or a bare text
	}
	for i, raw := range blocks {
		if i == maxBlocks {
			o.parts = append(o.parts, part{text: fmt.Sprintf("[%d more blocks are left out.]", len(blocks)-i)})
			break
		}
		o.parts = append(o.parts, readBlock(raw))
	}
	return o.shortened()
}

func readBlock(raw json.RawMessage) part {
	if raw[0] == '"' {
		return part{text: unquote(raw)}
	}
	var c content
	if json.Unmarshal(raw, &c) != nil {
		return part{text: "[A block that cannot be read.]"}
	}
	switch c.Type {
	case "text":
		return part{text: c.Text}
	case "image", "audio":
		return medium(c.Type, c.MIMEType, c.Data, "")
	case "resource_link":
		return part{text: link(c)}
	case "resource":
		if c.Resource.Text != nil {
			return part{text: "[" + c.Resource.URI + "]\n" + *c.Resource.Text}
		}
		return medium("file", c.Resource.MIMEType, c.Resource.Blob, c.Resource.URI)
	}
	return part{text: fmt.Sprintf("[A block of the unknown type %q.]", cut(c.Type, 40))}
}

func link(c content) string {
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

// medium is an image, a sound or a file. One that is no base64, or too big, is only told of.
func medium(what, mimeType, data, uri string) part {
	kind, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		kind = "application/octet-stream"
	}
	size := base64.StdEncoding.DecodedLen(len(data))
	p := part{mime: kind, data: data, media: size > 0 && size <= maxMedia}
	if p.media {
		n, err := base64.StdEncoding.Decode(make([]byte, size), []byte(data))
		size, p.media = n, err == nil && !strings.ContainsAny(data, "\r\n")
	}
	p.text = fmt.Sprintf("[An %s of type %s, %d bytes", what, kind, size)
	if what == "file" {
		p.text = strings.Replace(p.text, "An", "A", 1)
	}
	if uri != "" {
		p.text += ", " + uri
	}
	p.text += ": it cannot be shown here.]"
	return p
}

// shortened keeps within maxText.
func (o outcome) shortened() outcome {
	room := maxText
	for i := range o.parts {
		p := &o.parts[i]
		if len(p.text) > room {
			left := len(p.text) - room
			p.text = strings.ToValidUTF8(p.text[:room], "") + fmt.Sprintf(" [… %d more bytes are left out.]", left)
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

// withStructured adds the structured content as a text, unless a text says it already: servers are told to write it as a
// text, too (MCP 2025-11-25, Structured Content).
func (o outcome) withStructured() []part {
	if o.structured == nil || o.saysStructured() {
		return o.parts
	}
	return append(o.parts[:len(o.parts):len(o.parts)], part{text: string(o.structured)})
}

func (o outcome) saysStructured() bool {
	return slices.ContainsFunc(o.parts, func(p part) bool {
		text := strings.TrimSpace(p.text)
		return strings.HasPrefix(text, "{") && json.Valid([]byte(text))
	})
}

// text is all parts as one text.
func text(parts []part) string {
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
