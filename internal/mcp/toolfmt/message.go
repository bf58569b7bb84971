package toolfmt

import (
	"bytes"
	"encoding/json"
	"slices"

	"patchbay/internal/jsonschema"
)

// Text is the format of a result's text alone.
const Text Format = "text"

// Call is the call that a result belongs to.
type Call struct {
	ID   string // the provider's; optional for Google
	Tool string // as the model knows it
}

// Result returns the result of a tools/call in a format.
func Result(f Format, call Call, result json.RawMessage) json.RawMessage {
	switch f {
	case Text:
		return textResult(result)
	case OpenAI:
		return openAIResult(call.ID, result)
	case Anthropic:
		return anthropicResult(call.ID, result)
	case Google:
		return googleResult(call.Tool, call.ID, result)
	}
	return result
}

// textResult returns the texts and the structured content as one JSON string.
func textResult(result json.RawMessage) json.RawMessage {
	return jsonschema.AppendQuoted(nil, joinText(parseResult(result).partsWithStructured()))
}

// openAIResult returns the message of role "tool" for the call callID. It takes text alone ("For tool messages,
// only type text is supported", OpenAI API reference, Tool message) and has no error flag: an image is named,
// an error stated. The image does not go into a user message, as the user did not send it.
func openAIResult(callID string, result json.RawMessage) json.RawMessage {
	o := parseResult(result)
	said := joinText(o.partsWithStructured())
	if o.isError {
		said = "The tool failed: " + said
	}
	return encodeJSON(struct {
		Role       string `json:"role"`
		ToolCallID string `json:"tool_call_id"`
		Content    string `json:"content"`
	}{"tool", callID, said})
}

// anthropicBlock is a block of a tool_result: text, image or document.
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

// anthropicResult returns the tool_result block for toolUseID; it goes into a message of role "user", before
// any text. Images are PNG, JPEG, GIF or WebP, documents PDF (Anthropic API reference, tool_result and vision);
// everything else is named. An error has text alone: the API refuses other blocks there.
func anthropicResult(toolUseID string, result json.RawMessage) json.RawMessage {
	o := parseResult(result)
	blocks := []anthropicBlock{}
	for _, p := range o.partsWithStructured() {
		kind := map[string]string{
			"image/png": "image", "image/jpeg": "image", "image/gif": "image", "image/webp": "image", "application/pdf": "document",
		}[p.mime]
		switch {
		case p.isMedia && kind != "" && !o.isError:
			blocks = append(blocks, anthropicBlock{Type: kind, Source: &anthropicSource{"base64", p.mime, p.data}})
		case p.text != "": // empty text is refused
			blocks = append(blocks, anthropicBlock{Type: "text", Text: p.text})
		}
	}
	if len(blocks) == 0 {
		blocks = append(blocks, anthropicBlock{Type: "text", Text: joinText(nil)})
	}
	return encodeJSON(struct {
		Type      string           `json:"type"`
		ToolUseID string           `json:"tool_use_id"`
		Content   []anthropicBlock `json:"content"`
		IsError   bool             `json:"is_error,omitempty"`
	}{"tool_result", toolUseID, blocks, o.isError})
}

type googleBlob struct {
	InlineData struct {
		MIMEType string `json:"mimeType"`
		Data     string `json:"data"`
	} `json:"inlineData"`
}

// googleMedia are the types that a functionResponse may have inline.
var googleMedia = []string{"image/png", "image/jpeg", "image/webp", "application/pdf"}

// googleResult returns the functionResponse part for the call of name. response has the key output or error
// (Gemini API reference, FunctionResponse); structured content alone is used as it is. callID is the model's
// call id, if any. Images and PDF go into the response's parts; everything else is named.
func googleResult(name, callID string, result json.RawMessage) json.RawMessage {
	o := parseResult(result)
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
	var said []resultPart
	for _, p := range o.parts {
		if !p.isMedia || o.isError || !slices.Contains(googleMedia, p.mime) {
			said = append(said, p)
			continue
		}
		var blob googleBlob
		blob.InlineData.MIMEType, blob.InlineData.Data = p.mime, p.data
		f.Parts = append(f.Parts, blob)
	}
	o.parts = said
	switch all := joinText(o.partsWithStructured()); {
	case o.isError:
		f.Response.Error = all
	case o.structured != nil && (len(said) == 0 || len(said) == 1 && o.hasStructuredText()):
		f.Response.Output = o.structured
	default:
		f.Response.Output = jsonschema.AppendQuoted(nil, all)
	}
	return encodeJSON(out)
}

// encodeJSON encodes our own structs, with raw JSON unchanged and HTML characters unescaped.
func encodeJSON(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // strings and valid JSON always encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
