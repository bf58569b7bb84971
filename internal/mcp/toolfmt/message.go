package toolfmt

import (
	"bytes"
	"encoding/json"
	"slices"
)

// OpenAIResult is the message of role "tool" that tells a model what its call callID gave. Such a message takes text alone
// ("For tool messages, only type text is supported", OpenAI API reference, Tool message), and knows no errors: an image
// is named, and a failure said. The image is not put into a message of the user, who did not send it.
func OpenAIResult(callID string, result json.RawMessage) json.RawMessage {
	o := read(result)
	said := text(o.withStructured())
	if o.failed {
		said = "The tool failed: " + said
	}
	return encode(struct {
		Role       string `json:"role"`
		ToolCallID string `json:"tool_call_id"`
		Content    string `json:"content"`
	}{"tool", callID, said})
}

// anthropicBlock is a block of a tool_result: a text, an image or a document.
type anthropicBlock struct {
	Type   string           `json:"type"`
	Text   string           `json:"text,omitempty"`
	Source *anthropicSource `json:"source,omitempty"`
}

type anthropicSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// AnthropicResult is the tool_result block that tells a model what its tool_use toolUseID gave; it goes into a message of role "user",
// before any text. Images are PNG, JPEG, GIF or WebP, and documents PDF (Anthropic API reference, tool_result and vision); everything
// else is named. All content of a failure is text: the API refuses other blocks there.
func AnthropicResult(toolUseID string, result json.RawMessage) json.RawMessage {
	o := read(result)
	blocks := []anthropicBlock{}
	for _, p := range o.withStructured() {
		kind := map[string]string{
			"image/png": "image", "image/jpeg": "image", "image/gif": "image", "image/webp": "image", "application/pdf": "document",
		}[p.mime]
		switch {
		case p.media && kind != "" && !o.failed:
			blocks = append(blocks, anthropicBlock{Type: kind, Source: &anthropicSource{"base64", p.mime, p.data}})
		case p.text != "": // an empty text is refused
			blocks = append(blocks, anthropicBlock{Type: "text", Text: p.text})
		}
	}
	if len(blocks) == 0 {
		blocks = append(blocks, anthropicBlock{Type: "text", Text: text(nil)})
	}
	return encode(struct {
		Type      string           `json:"type"`
		ToolUseID string           `json:"tool_use_id"`
		Content   []anthropicBlock `json:"content"`
		IsError   bool             `json:"is_error,omitempty"`
	}{"tool_result", toolUseID, blocks, o.failed})
}

type googleBlob struct {
	InlineData struct {
		MIMEType string `json:"mimeType"`
		Data     string `json:"data"`
	} `json:"inlineData"`
}

// googleMedia are the types that a function's response may hold inline.
var googleMedia = []string{"image/png", "image/jpeg", "image/webp", "application/pdf"}

// GoogleResult is the part with the functionResponse that tells a model what its call of the function name gave. response has the key
// output or error (Gemini API reference, FunctionResponse); structured content goes there as it is, unless there is more to be said. callID is the call's id
// where the model gave one. Images and PDF go into the response's parts, everything else is named.
func GoogleResult(name, callID string, result json.RawMessage) json.RawMessage {
	o := read(result)
	type response struct {
		Output json.RawMessage `json:"output,omitempty"`
		Error  string          `json:"error,omitempty"`
	}
	var out struct {
		FunctionResponse struct {
			ID       string       `json:"id,omitempty"`
			Name     string       `json:"name"`
			Response response     `json:"response"`
			Parts    []googleBlob `json:"parts,omitempty"`
		} `json:"functionResponse"`
	}
	f := &out.FunctionResponse
	f.ID, f.Name = callID, name
	var said []part
	for _, p := range o.parts {
		if !p.media || o.failed || !slices.Contains(googleMedia, p.mime) {
			said = append(said, p)
			continue
		}
		var blob googleBlob
		blob.InlineData.MIMEType, blob.InlineData.Data = p.mime, p.data
		f.Parts = append(f.Parts, blob)
	}
	o.parts = said
	switch all := text(o.withStructured()); {
	case o.failed:
		f.Response.Error = all
	case o.structured != nil && (len(said) == 0 || len(said) == 1 && o.saysStructured()):
		f.Response.Output = o.structured
	default:
		f.Response.Output = quote(nil, all)
	}
	return encode(out)
}

// encode writes what is ours, with the raw JSON in it as it is. HTML's characters stay.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // structs of texts and valid JSON always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
