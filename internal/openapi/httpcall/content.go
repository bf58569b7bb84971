package httpcall

import (
	"bytes"
	"encoding/base64"
	"mime"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"patchbay/internal/jsonschema"
	"patchbay/internal/openapi"
)

// contentBlock is a ContentBlock of MCP.
type contentBlock interface {
	appendJSON(out []byte) []byte
	jsonSize() int // about, in bytes
}

// textBlock is TextContent.
type textBlock []byte

func (b textBlock) appendJSON(out []byte) []byte {
	out = append(out, `{"type":"text","text":`...)
	return append(jsonschema.AppendQuotedBytes(out, b), '}')
}

func (b textBlock) jsonSize() int { return len(b) + 32 }

// blobBlock is EmbeddedResource with bytes.
type blobBlock struct {
	uri, media string
	body       []byte
}

func (b blobBlock) appendJSON(out []byte) []byte {
	out = jsonschema.AppendQuoted(append(out, `{"type":"resource","resource":{"uri":`...), b.uri)
	out = jsonschema.AppendQuoted(append(out, `,"mimeType":`...), b.media)
	out = base64.StdEncoding.AppendEncode(append(out, `,"blob":"`...), b.body)
	return append(out, `"}}`...)
}

func (b blobBlock) jsonSize() int {
	return base64.StdEncoding.EncodedLen(len(b.body)) + len(b.uri) + 128
}

// binaryBlock returns bytes as an embedded resource. Its address is the request's, with the file's name if the answer says one.
func binaryBlock(r Response, media string) blobBlock {
	if media == "" {
		media = "application/octet-stream"
	}
	address := r.URL
	if u, err := url.Parse(r.URL); err == nil {
		if name := fileName(r.Header.Get("Content-Disposition")); name != "" {
			u.Fragment = name
		}
		address = u.String()
	}
	return blobBlock{address, media, r.Body}
}

// fileName returns the file's name in Content-Disposition, without directories.
func fileName(disposition string) string {
	_, parameters, err := mime.ParseMediaType(disposition)
	if err != nil {
		return ""
	}
	name := path.Base(strings.ReplaceAll(parameters["filename"], `\`, "/"))
	if name == "." || name == ".." || name == "/" {
		return ""
	}
	return cutText(name, 200)
}

// isReadable reports whether a body is text. Without a type that says so, it has to be UTF-8 without control characters.
func isReadable(media string, body []byte) bool {
	if openapi.IsText(media) || openapi.IsJSON(media) {
		return true
	}
	if media != "" && media != "application/octet-stream" || len(body) > 1<<20 {
		return false
	}
	return utf8.Valid(body) && !bytes.ContainsFunc(body, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' })
}

// readText returns a body as UTF-8, from the character set that its type names.
func readText(body []byte, contentType string) []byte {
	if _, isCommon := commonMedia[contentType]; isCommon {
		return validText(body)
	}
	_, parameters, _ := mime.ParseMediaType(contentType)
	if name := strings.ToLower(parameters["charset"]); name != "" && name != "utf-8" && name != "utf8" {
		if set, err := htmlindex.Get(name); err == nil {
			if decoded, err := set.NewDecoder().Bytes(body); err == nil {
				body = decoded
			}
		}
	}
	return validText(body)
}

// validText returns a text with U+FFFD for bytes that are not UTF-8.
func validText(body []byte) []byte {
	if utf8.Valid(body) {
		return body
	}
	return bytes.ToValidUTF8(body, []byte("\uFFFD"))
}

// commonMedia are media types as most APIs write them: parsing one allocates.
var commonMedia = map[string]string{
	"application/json": "application/json", "application/json; charset=utf-8": "application/json", "application/json;charset=utf-8": "application/json",
	"text/plain": "text/plain", "text/plain; charset=utf-8": "text/plain",
}

// readMedia returns the media type of Content-Type; empty: there is none.
func readMedia(contentType string) string {
	if media, isCommon := commonMedia[contentType]; isCommon {
		return media
	}
	media, _, _ := mime.ParseMediaType(contentType)
	return media
}
