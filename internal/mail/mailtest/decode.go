package mailtest

import (
	"encoding/base64"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
)

// decodeBody returns the body without its transfer encoding.
func decodeBody(m *mail.Message) io.Reader {
	switch m.Header.Get("Content-Transfer-Encoding") {
	case "quoted-printable":
		return quotedprintable.NewReader(m.Body)
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, m.Body)
	default:
		return m.Body
	}
}

// Subject is the decoded subject.
func (r Received) Subject() string {
	text, err := new(mime.WordDecoder).DecodeHeader(r.Header.Get("Subject"))
	if err != nil {
		return r.Header.Get("Subject")
	}
	return text
}
