package admin

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// Bounds of a result on a page. It comes from a remote server, in any size.
const (
	maxBlocks     = 50
	maxResultText = 512 << 10 // of all blocks, in bytes
)

// safePictures are the media types that browsers show without running scripts.
var safePictures = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// toolResult is a CallToolResult of MCP.
type toolResult struct {
	Content    lenient[[]json.RawMessage] `json:"content"`
	Structured json.RawMessage            `json:"structuredContent"`
	IsError    lenient[bool]              `json:"isError"`
}

// contentBlock is a ContentBlock of MCP.
type contentBlock struct {
	Type     lenient[string] `json:"type"`
	Text     lenient[string] `json:"text"`
	Data     lenient[string] `json:"data"`
	MIMEType lenient[string] `json:"mimeType"`
	URI      lenient[string] `json:"uri"`
	Name     lenient[string] `json:"name"`
	Title    lenient[string] `json:"title"`
	Size     lenient[int64]  `json:"size"`
	Blob     lenient[string] `json:"blob"`
	Resource json.RawMessage `json:"resource"`
}

// resultView shows a result. pictures returns the address of the n-th block as a picture; nil: pictures are not
// served.
func resultView(ctx context.Context, r toolResult, pictures func(n int) string) templates.Result {
	v := templates.Result{State: templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Done")}}
	if r.IsError.value {
		v.State = templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "The tool reports an error")}
	}
	remaining := maxResultText
	for i, raw := range r.Content.value {
		if i == maxBlocks || remaining <= 0 {
			v.Note = i18n.T(ctx, "%s more are not shown.", i18n.N(ctx, len(r.Content.value)-i, "%s block", "%s blocks"))
			break
		}
		b := blockView(ctx, raw, i, min(remaining, maxPageJSON), pictures)
		remaining -= len(b.Text)
		v.Blocks = append(v.Blocks, b)
	}
	if s := bytes.TrimSpace(r.Structured); len(s) > 0 && string(s) != "null" {
		v.Structured = indentJSON(ctx, s, maxPageJSON)
	}
	if len(v.Blocks) == 0 && v.Structured == "" && v.Note == "" {
		v.Note = i18n.T(ctx, "The result is empty.")
	}
	return v
}

func blockView(ctx context.Context, raw json.RawMessage, n, limit int, pictures func(n int) string) templates.ResultBlock {
	var b contentBlock
	_ = json.Unmarshal(raw, &b) // an invalid block is shown as JSON
	switch b.Type.value {
	case "text":
		return textBlock(ctx, b.Text.value, limit)
	case "image":
		return pictureBlock(ctx, b, n, pictures)
	case "audio":
		return templates.ResultBlock{Kind: templates.BlockFile, Title: i18n.T(ctx, "Audio"), About: b.typeAndSize(ctx, decodedSize(b.Data.value))}
	case "resource_link":
		return templates.ResultBlock{Kind: templates.BlockLink, Title: b.label(i18n.T(ctx, "Link")), Text: shortenText(b.URI.value, maxDescription), About: b.typeAndSize(ctx, b.Size.value)}
	case "resource":
		return resourceBlock(ctx, b, limit)
	default:
		return templates.ResultBlock{Kind: templates.BlockJSON, Text: indentJSON(ctx, raw, limit)}
	}
}

// textBlock is a text, indented if it is JSON.
func textBlock(ctx context.Context, text string, limit int) templates.ResultBlock {
	if t := strings.TrimSpace(text); len(t) > 1 && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(t)) {
		return templates.ResultBlock{Kind: templates.BlockJSON, Text: indentJSON(ctx, []byte(t), limit)}
	}
	return templates.ResultBlock{Kind: templates.BlockText, Text: shortenText(text, limit)}
}

func pictureBlock(ctx context.Context, b contentBlock, n int, pictures func(n int) string) templates.ResultBlock {
	v := templates.ResultBlock{Kind: templates.BlockImage, Title: i18n.T(ctx, "Image"), About: b.typeAndSize(ctx, decodedSize(b.Data.value))}
	if pictures != nil && safePictures[b.MIMEType.value] {
		v.Src = pictures(n)
	} else {
		v.About += i18n.T(ctx, ", not shown")
	}
	return v
}

// resourceBlock is an embedded resource: its text, or its type and size.
func resourceBlock(ctx context.Context, b contentBlock, limit int) templates.ResultBlock {
	var r contentBlock
	_ = json.Unmarshal(b.Resource, &r) // an unreadable resource is shown as empty
	if r.Text.value != "" {
		v := textBlock(ctx, r.Text.value, limit)
		v.Title = shortenText(r.URI.value, maxDescription)
		return v
	}
	return templates.ResultBlock{Kind: templates.BlockFile, Title: i18n.T(ctx, "Resource"), Text: shortenText(r.URI.value, maxDescription), About: r.typeAndSize(ctx, decodedSize(r.Blob.value))}
}

// label is a block's title, name or address.
func (b contentBlock) label(otherwise string) string {
	for _, name := range []string{b.Title.value, b.Name.value} {
		if name != "" {
			return shortenText(name, maxName)
		}
	}
	return otherwise
}

func (b contentBlock) typeAndSize(ctx context.Context, size int64) string {
	var parts []string
	if b.MIMEType.value != "" {
		parts = append(parts, shortenText(b.MIMEType.value, maxName))
	}
	if size > 0 {
		parts = append(parts, formatBytes(ctx, size))
	}
	return strings.Join(parts, " · ")
}

// decodedSize is the number of bytes of a base64 text.
func decodedSize(text string) int64 {
	return int64(base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(text, "="))))
}

// formatBytes formats a number of bytes: "14 bytes", "2.4 KiB".
func formatBytes(ctx context.Context, n int64) string {
	switch {
	case n < 1<<10:
		return i18n.N(ctx, int(n), "%s byte", "%s bytes")
	case n < 1<<20:
		return i18n.T(ctx, "%.1f KiB", float64(n)/(1<<10))
	default:
		return i18n.T(ctx, "%.1f MiB", float64(n)/(1<<20))
	}
}
