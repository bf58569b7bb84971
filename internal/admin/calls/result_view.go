package calls

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// Bounds of a result on a page. It comes from a remote server, in any size.
const (
	MaxBlocks     = 50
	maxResultText = 512 << 10 // of all blocks, in bytes
	pictureHead   = 684       // characters of base64, of 513 bytes: more than a signature needs
)

// SafePictures are the media types that browsers show without running scripts.
var SafePictures = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// ToolResult is a CallToolResult of MCP.
type ToolResult struct {
	Content    shell.Lenient[[]json.RawMessage] `json:"content"`
	Structured json.RawMessage                  `json:"structuredContent"`
	IsError    shell.Lenient[bool]              `json:"isError"`
}

// ContentBlock is a ContentBlock of MCP.
type ContentBlock struct {
	Type     shell.Lenient[string] `json:"type"`
	Text     shell.Lenient[string] `json:"text"`
	Data     shell.Lenient[string] `json:"data"`
	MIMEType shell.Lenient[string] `json:"mimeType"`
	URI      shell.Lenient[string] `json:"uri"`
	Name     shell.Lenient[string] `json:"name"`
	Title    shell.Lenient[string] `json:"title"`
	Size     shell.Lenient[int64]  `json:"size"`
	Blob     shell.Lenient[string] `json:"blob"`
	Resource json.RawMessage       `json:"resource"`
}

// ResultView shows a result. pictures returns the address of the n-th block as a picture; nil: pictures are not
// served.
func ResultView(ctx context.Context, r ToolResult, pictures func(n int) string) templates.Result {
	v := templates.Result{State: templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Done")}}
	if r.IsError.Value {
		v.State = templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Tool error")}
	}
	remaining := maxResultText
	for i, raw := range r.Content.Value {
		if i == MaxBlocks || remaining <= 0 {
			v.Note = i18n.T(ctx, "%s not shown.", i18n.N(ctx, len(r.Content.Value)-i, "%s block", "%s blocks"))
			break
		}
		b := blockView(ctx, raw, i, min(remaining, shell.MaxPageJSON), pictures)
		remaining -= len(b.Text)
		v.Blocks = append(v.Blocks, b)
	}
	if s := bytes.TrimSpace(r.Structured); len(s) > 0 && string(s) != "null" {
		v.Structured = shell.IndentJSON(ctx, s, shell.MaxPageJSON)
	}
	if len(v.Blocks) == 0 && v.Structured == "" && v.Note == "" {
		v.Note = i18n.T(ctx, "Empty result.")
	}
	return v
}

func blockView(ctx context.Context, raw json.RawMessage, n, limit int, pictures func(n int) string) templates.ResultBlock {
	var b ContentBlock
	_ = json.Unmarshal(raw, &b) // an invalid block is shown as JSON
	switch b.Type.Value {
	case "text":
		return textBlock(ctx, b.Text.Value, limit)
	case "image":
		return pictureBlock(ctx, b, n, pictures)
	case "audio":
		return templates.ResultBlock{Kind: templates.BlockFile, Title: i18n.T(ctx, "Audio"), About: b.typeAndSize(ctx, decodedSize(b.Data.Value))}
	case "resource_link":
		return templates.ResultBlock{Kind: templates.BlockLink, Title: b.label(i18n.T(ctx, "Link")), Text: shell.ShortenText(b.URI.Value, shell.MaxDescription), About: b.typeAndSize(ctx, b.Size.Value)}
	case "resource":
		return resourceBlock(ctx, b, limit)
	default:
		return templates.ResultBlock{Kind: templates.BlockJSON, Text: shell.IndentJSON(ctx, raw, limit)}
	}
}

// textBlock is a text, indented if it is JSON.
func textBlock(ctx context.Context, text string, limit int) templates.ResultBlock {
	if t := strings.TrimSpace(text); len(t) > 1 && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(t)) {
		return templates.ResultBlock{Kind: templates.BlockJSON, Text: shell.IndentJSON(ctx, []byte(t), limit)}
	}
	return templates.ResultBlock{Kind: templates.BlockText, Text: shell.ShortenText(text, limit)}
}

func pictureBlock(ctx context.Context, b ContentBlock, n int, pictures func(n int) string) templates.ResultBlock {
	v := templates.ResultBlock{Kind: templates.BlockImage, Title: i18n.T(ctx, "Image"), About: b.typeAndSize(ctx, decodedSize(b.Data.Value))}
	switch {
	case pictures != nil && SafePictures[b.MIMEType.Value] && isPicture(b):
		v.Src = pictures(n)
	case SafePictures[b.MIMEType.Value] && !isPicture(b):
		v.About += i18n.T(ctx, ", not a valid image")
	default:
		v.About += i18n.T(ctx, ", not shown")
	}
	return v
}

// isPicture reports whether a block's data begins as its media type says. The rest is the browser's to decode.
func isPicture(b ContentBlock) bool {
	head := b.Data.Value[:min(len(b.Data.Value), pictureHead)]
	raw, err := base64.StdEncoding.DecodeString(head)
	return err == nil && http.DetectContentType(raw) == b.MIMEType.Value
}

// resourceBlock is an embedded resource: its text, or its type and size.
func resourceBlock(ctx context.Context, b ContentBlock, limit int) templates.ResultBlock {
	var r ContentBlock
	_ = json.Unmarshal(b.Resource, &r) // an unreadable resource is shown as empty
	if r.Text.Value != "" {
		v := textBlock(ctx, r.Text.Value, limit)
		v.Title = shell.ShortenText(r.URI.Value, shell.MaxDescription)
		return v
	}
	return templates.ResultBlock{Kind: templates.BlockFile, Title: i18n.T(ctx, "Resource"), Text: shell.ShortenText(r.URI.Value, shell.MaxDescription), About: r.typeAndSize(ctx, decodedSize(r.Blob.Value))}
}

// label is a block's title, name or address.
func (b ContentBlock) label(otherwise string) string {
	for _, name := range []string{b.Title.Value, b.Name.Value} {
		if name != "" {
			return shell.ShortenText(name, shell.MaxName)
		}
	}
	return otherwise
}

func (b ContentBlock) typeAndSize(ctx context.Context, size int64) string {
	var parts []string
	if b.MIMEType.Value != "" {
		parts = append(parts, shell.ShortenText(b.MIMEType.Value, shell.MaxName))
	}
	if size > 0 {
		parts = append(parts, shell.FormatBytes(ctx, size))
	}
	return strings.Join(parts, " · ")
}

// decodedSize is the number of bytes of a base64 text.
func decodedSize(text string) int64 {
	return int64(base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(text, "="))))
}
