package admin

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"patchbay/internal/words"
	"patchbay/web/templates"
)

// Bounds of a result on a page: it comes from a remote server, and may be of any size.
const (
	maxBlocks     = 50
	maxResultText = 512 << 10 // of all blocks together, in bytes
)

// safePictures are the types that a browser shows without running anything of them.
var safePictures = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// toolResult is a tool's result, as MCP has it.
type toolResult struct {
	Content    lenient[[]json.RawMessage] `json:"content"`
	Structured json.RawMessage            `json:"structuredContent"`
	IsError    lenient[bool]              `json:"isError"`
}

// contentBlock is one block of a result's content.
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

// resultView shows a result. pictures is where its n-th block is served as a picture; nil: nowhere.
func resultView(ctx context.Context, r toolResult, pictures func(n int) string) templates.Result {
	v := templates.Result{State: templates.State{Kind: templates.StateOK, Text: words.T(ctx, "Done")}}
	if r.IsError.value {
		v.State = templates.State{Kind: templates.StateBad, Text: words.T(ctx, "The tool reports an error")}
	}
	left := maxResultText
	for i, raw := range r.Content.value {
		if i == maxBlocks || left <= 0 {
			v.Note = words.T(ctx, "%s more are not shown.", words.N(ctx, len(r.Content.value)-i, "%s block", "%s blocks"))
			break
		}
		b := blockView(ctx, raw, i, min(left, onPage.json), pictures)
		left -= len(b.Text)
		v.Blocks = append(v.Blocks, b)
	}
	if s := bytes.TrimSpace(r.Structured); len(s) > 0 && string(s) != "null" {
		v.Structured = indent(ctx, s, onPage.json)
	}
	if len(v.Blocks) == 0 && v.Structured == "" && v.Note == "" {
		v.Note = words.T(ctx, "The result is empty.")
	}
	return v
}

func blockView(ctx context.Context, raw json.RawMessage, n, most int, pictures func(n int) string) templates.ResultBlock {
	var b contentBlock
	_ = json.Unmarshal(raw, &b) // what is no block is shown as it is
	switch b.Type.value {
	case "text":
		return textBlock(ctx, b.Text.value, most)
	case "image":
		return pictureBlock(ctx, b, n, pictures)
	case "audio":
		return templates.ResultBlock{Kind: templates.BlockFile, Title: words.T(ctx, "Audio"), About: b.about(ctx, decodedSize(b.Data.value))}
	case "resource_link":
		return templates.ResultBlock{Kind: templates.BlockLink, Title: b.name(words.T(ctx, "Link")), Text: shorten(b.URI.value, maxAbout), About: b.about(ctx, b.Size.value)}
	case "resource":
		return resourceBlock(ctx, b, most)
	default:
		return templates.ResultBlock{Kind: templates.BlockJSON, Text: indent(ctx, raw, most)}
	}
}

// textBlock is a text, laid out where it is JSON.
func textBlock(ctx context.Context, text string, most int) templates.ResultBlock {
	if t := strings.TrimSpace(text); len(t) > 1 && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(t)) {
		return templates.ResultBlock{Kind: templates.BlockJSON, Text: indent(ctx, []byte(t), most)}
	}
	return templates.ResultBlock{Kind: templates.BlockText, Text: shorten(text, most)}
}

func pictureBlock(ctx context.Context, b contentBlock, n int, pictures func(n int) string) templates.ResultBlock {
	v := templates.ResultBlock{Kind: templates.BlockImage, Title: words.T(ctx, "Image"), About: b.about(ctx, decodedSize(b.Data.value))}
	if pictures != nil && safePictures[b.MIMEType.value] {
		v.Src = pictures(n)
	} else {
		v.About += words.T(ctx, ", not shown")
	}
	return v
}

// resourceBlock is a resource that came with the result: its text, or what it is.
func resourceBlock(ctx context.Context, b contentBlock, most int) templates.ResultBlock {
	var r contentBlock
	_ = json.Unmarshal(b.Resource, &r) // what cannot be read is empty
	if r.Text.value != "" {
		v := textBlock(ctx, r.Text.value, most)
		v.Title = shorten(r.URI.value, maxAbout)
		return v
	}
	return templates.ResultBlock{Kind: templates.BlockFile, Title: words.T(ctx, "Resource"), Text: shorten(r.URI.value, maxAbout), About: r.about(ctx, decodedSize(r.Blob.value))}
}

// name is what a block is called.
func (b contentBlock) name(otherwise string) string {
	for _, name := range []string{b.Title.value, b.Name.value} {
		if name != "" {
			return shorten(name, maxName)
		}
	}
	return otherwise
}

// about is a block's type and size.
func (b contentBlock) about(ctx context.Context, size int64) string {
	var parts []string
	if b.MIMEType.value != "" {
		parts = append(parts, shorten(b.MIMEType.value, maxName))
	}
	if size > 0 {
		parts = append(parts, sized(ctx, size))
	}
	return strings.Join(parts, " · ")
}

// decodedSize is how many bytes a base64 text holds.
func decodedSize(text string) int64 {
	return int64(base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(text, "="))))
}

// sized words a number of bytes: "14 bytes", "2.4 KiB".
func sized(ctx context.Context, n int64) string {
	switch {
	case n < 1<<10:
		return words.N(ctx, int(n), "%s byte", "%s bytes")
	case n < 1<<20:
		return words.T(ctx, "%.1f KiB", float64(n)/(1<<10))
	default:
		return words.T(ctx, "%.1f MiB", float64(n)/(1<<20))
	}
}
