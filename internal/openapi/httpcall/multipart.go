package httpcall

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"mime/multipart"
	"net/textproto"
	"path"
	"strings"
	"unicode"

	"patchbay/internal/jsonschema"
	"patchbay/internal/openapi"
)

// part is a part of a multipart body.
type part struct {
	name, media string // the name as in its head
	file        *file
	data        []byte
}

// maxParts bounds the parts of a body: each has a head.
const maxParts = 10_000

// addParts writes a multipart body. The boundary follows from them, so that a request has the same bytes each time.
func (r *Request) addParts(b *openapi.Body, given []givenField) error {
	var parts []part
	size := 0
	for _, f := range given {
		more, err := fieldParts(f)
		if err != nil {
			return err
		}
		for _, p := range more {
			size += len(p.name) + len(p.data)
		}
		if parts = append(parts, more...); len(parts) > maxParts || size > maxBody {
			return newBodyError()
		}
	}
	if len(parts) == 0 && !b.Required {
		r.Header.Del("Content-Type")
		return nil
	}
	sum := sha256.New()
	for _, p := range parts {
		sum.Write([]byte(p.name))
		sum.Write(p.data)
	}
	boundary := "patchbay-" + hex.EncodeToString(sum.Sum(nil))[:40]
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	if err := w.SetBoundary(boundary); err != nil {
		return err
	}
	for _, p := range parts {
		part, err := w.CreatePart(p.writeHeader())
		if err != nil {
			return err
		}
		_, _ = part.Write(p.data) // a buffer
	}
	if err := w.Close(); err != nil {
		return err
	}
	r.Body = out.Bytes()
	r.Header.Set("Content-Type", mime.FormatMediaType(b.Media, map[string]string{"boundary": boundary}))
	return nil
}

// fieldParts returns the parts of a field: one for each item of a list. Objects are JSON.
func fieldParts(f givenField) ([]part, error) {
	values := []*jsonschema.Node{f.value}
	if f.value.Is(jsonschema.Array) && (f.Media == "" || f.File || !openapi.IsJSON(f.Media)) {
		values = f.value.Items
	}
	if len(values) > maxParts {
		return nil, newBodyError()
	}
	name := quoteParameter(f.Name)
	var parts []part
	for _, v := range values {
		p := part{name: name, media: f.Media}
		switch {
		case f.File:
			content, err := readFile(f.Argument, v)
			if err != nil {
				return nil, err
			}
			p.file, p.data = &content, content.data
		case v.Is(jsonschema.Object) || v.Is(jsonschema.Array) || openapi.IsJSON(f.Media):
			p.data = []byte(compactText(v))
			if p.media == "" {
				p.media = "application/json"
			}
		default:
			p.data = []byte(scalarText(v))
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// writeHeader returns the head of a part (RFC 7578).
func (p part) writeHeader() textproto.MIMEHeader {
	head := textproto.MIMEHeader{}
	disposition := `form-data; name="` + p.name + `"`
	if p.file != nil {
		name := path.Base(strings.ReplaceAll(p.file.name, `\`, "/"))
		if name == "." || name == ".." || name == "/" {
			name = "file"
		}
		disposition += `; filename="` + quoteParameter(cutText(name, 200)) + `"`
		if p.media == "" || strings.HasSuffix(p.media, "*") {
			p.media = "application/octet-stream"
			if isMediaType(p.file.media) {
				p.media = p.file.media
			}
		}
	}
	head.Set("Content-Disposition", disposition)
	if p.media != "" {
		head.Set("Content-Type", p.media)
	}
	return head
}

// quoteParameter escapes a parameter as browsers do (WHATWG HTML, multipart/form-data). Control characters are left out.
func quoteParameter(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\r' && r != '\n' {
			return -1
		}
		return r
	}, text)
	return strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22").Replace(text)
}

func isMediaType(text string) bool {
	media, parameters, err := mime.ParseMediaType(text)
	return err == nil && len(parameters) == 0 && media == strings.ToLower(text) && strings.Contains(media, "/") && len(media) <= 100
}
