package toolsync_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"patchbay/internal/mcp/mcptest"
)

// sloppyCase is one fixture, read.
type sloppyCase struct {
	name      string
	comment   string
	url       string
	transport string
	timeout   time.Duration
	retries   int
	bearer    string
	also      []string               // other origins that may be called
	replies   map[string]sloppyReply // by "method", "method N" (the Nth of them only) or "*" (all others)
	want      string
}

const (
	methodDiscover = "server/discover"
	sloppyURL      = "http://mcp.test/mcp"
)

func readSloppyCase(file string) (sloppyCase, error) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return sloppyCase{}, err
	}
	c := sloppyCase{
		name:      strings.TrimSuffix(filepath.Base(file), ".txtar"),
		comment:   string(archive.Comment),
		url:       sloppyURL,
		transport: "streamable_http",
		timeout:   10 * time.Second,
		replies:   map[string]sloppyReply{},
	}
	for _, f := range archive.Files {
		switch f.Name {
		case "want":
			c.want = string(f.Data)
		case "connector":
			err = c.settings(string(f.Data))
		default:
			c.replies[f.Name], err = readSloppyReply(string(f.Data))
		}
		if err != nil {
			return c, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	if c.comment == "" || c.want == "" {
		return c, fmt.Errorf("a case has a comment and a section want")
	}
	return c, nil
}

// settings reads the section "connector".
func (c *sloppyCase) settings(text string) (err error) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "url":
			c.url = value
		case "transport":
			c.transport = value
		case "timeout":
			c.timeout, err = time.ParseDuration(value)
		case "retries":
			c.retries, err = strconv.Atoi(value)
		case "bearer":
			c.bearer = value
		case "also":
			c.also = append(c.also, value)
		default:
			err = fmt.Errorf("no setting %q", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// giant tells whether the case is about memory: it floods.
func (c sloppyCase) giant() bool {
	for _, r := range c.replies {
		for _, p := range append(r.head, r.body...) {
			if p.word == "flood" {
				return true
			}
		}
	}
	return false
}

// scripts tells whether the case says how a method is answered.
func (c sloppyCase) scripts(method string) bool {
	for key := range c.replies {
		if name, _, _ := strings.Cut(key, " "); name == method || name == "*" {
			return true
		}
	}
	return false
}

// reply is what the nth request of a method gets; ok is false where the server behaves well.
func (c sloppyCase) reply(method string, n int) (r sloppyReply, ok bool) {
	for _, key := range []string{fmt.Sprintf("%s %d", method, n), method, "*"} {
		if r, ok = c.replies[key]; ok {
			return r, !r.well()
		}
	}
	return r, false
}

// sloppyReply is an HTTP response: pieces of text, and words between {{ and }} that stand for bytes or for doing something.
type sloppyReply struct {
	head []piece // status line and headers; nil: "200 OK" and JSON
	body []piece
}

// well tells whether the reply is that of a server that behaves.
func (r sloppyReply) well() bool {
	return len(r.head) == 0 && len(r.body) > 0 && r.body[0].word == "well"
}

// headless tells whether nothing of HTTP comes before the body: the server breaks off at once, or speaks something else.
func (r sloppyReply) headless() bool {
	if len(r.head) > 0 || len(r.body) == 0 {
		return false
	}
	switch r.body[0].word {
	case "raw", "cut", "reset", "hang", "wait":
		return true
	}
	return false
}

// piece is a text, or a word with its argument.
type piece struct{ text, word, arg string }

// readSloppyReply reads a section. One line end at its end is the archive's and not the server's, but for event streams, where
// every one counts.
func readSloppyReply(text string) (r sloppyReply, err error) {
	text, _, _ = strings.Cut(text, "{{eof}}")
	head, body, found := strings.Cut(text, "\n\n")
	switch isHTTP := strings.HasPrefix(text, "HTTP/"); {
	case !isHTTP:
		head, body = "", strings.TrimSuffix(text, "\n")
	case !found:
		head, body = strings.TrimSuffix(text, "\n"), ""
	case !strings.Contains(head, "event-stream"):
		body = strings.TrimSuffix(body, "\n")
	}
	if r.head, err = pieces(head); err != nil {
		return r, err
	}
	r.body, err = pieces(body)
	return r, err
}

func pieces(text string) (all []piece, err error) {
	for text != "" {
		before, rest, found := strings.Cut(text, "{{")
		if before != "" {
			all = append(all, piece{text: before})
		}
		if !found {
			break
		}
		inside, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return nil, fmt.Errorf("{{ without }}: %.40q", rest)
		}
		word, arg, _ := strings.Cut(inside, " ")
		if !words[word] {
			return nil, fmt.Errorf("no word %q", word)
		}
		all = append(all, piece{word: word, arg: arg})
		text = after
	}
	return all, nil
}

// words are all that a reply may hold; true: known.
var words = map[string]bool{
	// bytes
	"bom": true, "cr": true, "lf": true, "crlf": true, "nul": true, "hex": true, "repeat": true, "tools": true,
	"id": true, "n": true, "version": true, "gzip": true,
	// deeds
	"well": true, "raw": true, "flush": true, "on": true, "wait": true, "drip": true, "flood": true, "hang": true, "cut": true, "reset": true,
}

// timed tells whether a body does more than to be there.
func timed(body []piece) bool {
	for _, p := range body {
		switch p.word {
		case "flush", "on", "wait", "drip", "flood", "hang", "cut", "reset":
			return true
		}
	}
	return false
}

// bytes is what a piece stands for, in reply to a call.
func (p piece) bytes(c sloppyCall) []byte {
	switch p.word {
	case "":
		return []byte(p.text)
	case "bom":
		return []byte("\xef\xbb\xbf")
	case "cr":
		return []byte("\r")
	case "lf":
		return []byte("\n")
	case "crlf":
		return []byte("\r\n")
	case "nul":
		return []byte{0}
	case "hex":
		b, _ := hex.DecodeString(p.arg)
		return b
	case "id":
		return c.id
	case "n":
		return []byte(strconv.Itoa(c.n))
	case "version":
		return []byte(c.version)
	case "tools":
		n, _ := strconv.Atoi(p.arg)
		return []byte(strings.Join(mcptest.Tools(n), ","))
	case "repeat":
		return repeat(p.arg)
	}
	return nil
}

// unescaped reads the line ends in a word's argument.
var unescaped = strings.NewReplacer(`\n`, "\n", `\r`, "\r")

// repeat reads "N text": the text N times, with %d for the number of each.
func repeat(arg string) []byte {
	times, text, _ := strings.Cut(arg, " ")
	n, _ := strconv.Atoi(times)
	text = unescaped.Replace(text)
	if !strings.Contains(text, "%d") {
		return bytes.Repeat([]byte(text), n)
	}
	var b bytes.Buffer
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", strconv.Itoa(i)))
	}
	return b.Bytes()
}

// written are the bytes of a body that only is there.
func written(body []piece, c sloppyCall) []byte {
	var b bytes.Buffer
	for i, p := range body {
		if p.word == "gzip" {
			z := gzip.NewWriter(&b)
			_, _ = z.Write(written(body[i+1:], c))
			_ = z.Close()
			break
		}
		b.Write(p.bytes(c))
	}
	return b.Bytes()
}
