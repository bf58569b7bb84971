package curl

import (
	"net/url"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"patchbay/internal/fault"
	"patchbay/internal/openapi"
)

// MaxBytes bounds a command.
const MaxBytes = 256 << 10

// Command is what a curl command says.
type Command struct {
	Endpoint   openapi.Endpoint
	Credential *Credential // nil: there is none
	Notes      []string    // what was left out, as sentences
}

// Credential is a credential of a command. Its value is a secret.
type Credential struct {
	Type  openapi.SchemeType // apiKey, basic or bearer
	In    string             // of an API key: header or query
	Name  string             // of an API key
	Value string             // the key or token; user:password for basic
}

// commandLine has the options of a command, as curl has them.
type commandLine struct {
	method, address string
	headers         []openapi.Header
	data            []string // of -d and its relatives
	json            bool
	get, head       bool
	form            []formField // of -F
	user, bearer    string
	upload          bool
	notes           []string
}

type formField struct {
	name, value string
	file        bool
}

// Parse reads a command. The error is a fault with a sentence.
func Parse(command string) (*Command, error) {
	if len(command) > MaxBytes {
		return nil, fault.Errorf(fault.TooLarge, "The command is longer than %d KiB.", MaxBytes>>10)
	}
	words, err := splitCommand(command)
	if err != nil {
		return nil, err
	}
	var o commandLine
	if err := o.readWords(words); err != nil {
		return nil, err
	}
	return o.toCommand()
}

// splitCommand splits a command as a shell does. What a shell would run or look up is refused or left as text.
func splitCommand(command string) ([]string, error) {
	command = strings.NewReplacer("\\\r\n", " ", "\\\n", " ", "\r\n", " ", "\n", " ").Replace(strings.TrimSpace(command))
	command = strings.TrimPrefix(command, "$ ")
	words, err := shellquote.Split(expandQuotes(command))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The command has an unclosed quotation mark.")
	}
	if len(words) == 0 || words[0] != "curl" && !strings.HasSuffix(words[0], "/curl") && words[0] != "curl.exe" {
		return nil, fault.Errorf(fault.Invalid, "The command must begin with curl.")
	}
	if end := slices.IndexFunc(words, func(w string) bool { return w == "|" || w == "&&" || w == ";" || w == ">" || w == "||" }); end > 0 {
		words = words[:end]
	}
	return words[1:], nil
}

// expandQuotes replaces $'…' of Bash, which browsers copy, by '…'.
func expandQuotes(command string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(command, "$'")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		text, after := readANSI(rest)
		out.WriteString(shellquote.Join(text))
		if text == "" {
			out.WriteString("''")
		}
		command = after
	}
}

// readANSI reads the text up to the closing quotation mark.
func readANSI(rest string) (text, after string) {
	var out strings.Builder
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\'':
			return out.String(), rest[i+1:]
		case c == '\\' && i+1 < len(rest):
			i++
			if at := strings.IndexByte("nrt", rest[i]); at >= 0 {
				out.WriteByte("\n\r\t"[at])
			} else if r, size := readUnicode(rest[i:]); size > 0 {
				out.WriteRune(r)
				i += size - 1
			} else {
				out.WriteByte(rest[i])
			}
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), ""
}

// readUnicode reads an escape of u and four hexadecimal digits. size is 0 if the text does not begin with one.
func readUnicode(text string) (r rune, size int) {
	if len(text) < 5 || text[0] != 'u' {
		return 0, 0
	}
	for _, c := range []byte(text[1:5]) {
		at := strings.IndexByte("0123456789abcdef", c|0x20)
		if c <= '9' {
			at = strings.IndexByte("0123456789", c)
		}
		if at < 0 {
			return 0, 0
		}
		r = r<<4 | rune(at)
	}
	return r, 5
}

// shortOptions are the long names of options of one letter.
var shortOptions = map[byte]string{
	'X': "request", 'H': "header", 'd': "data", 'F': "form", 'u': "user", 'A': "user-agent", 'e': "referer", 'b': "cookie", 'G': "get", 'I': "head",
	'o': "output", 'm': "max-time", 'T': "upload-file", 'w': "write-out", 'x': "proxy", 'c': "cookie-jar", 'D': "dump-header", 'E': "cert", 'K': "config",
	'k': "insecure",
}

// valued are the options that take a value.
var valued = map[string]bool{
	"request": true, "header": true, "data": true, "data-raw": true, "data-binary": true, "data-ascii": true, "data-urlencode": true, "json": true,
	"form": true, "form-string": true, "user": true, "user-agent": true, "referer": true, "cookie": true, "url": true, "oauth2-bearer": true,
	"output": true, "max-time": true, "connect-timeout": true, "retry": true, "retry-delay": true, "upload-file": true, "write-out": true, "proxy": true,
	"cookie-jar": true, "dump-header": true, "cert": true, "key": true, "cacert": true, "config": true, "resolve": true, "url-query": true,
	"retry-max-time": true, "limit-rate": true, "max-redirs": true, "ciphers": true, "tls-max": true, "interface": true, "unix-socket": true,
}

func (o *commandLine) readWords(words []string) error {
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		var name, value string
		var given bool
		switch {
		case strings.HasPrefix(word, "--") && len(word) > 2:
			name, value, given = strings.Cut(word[2:], "=")
		case strings.HasPrefix(word, "-") && len(word) > 1:
			name, value, given = o.readLetters(word[1:])
		default:
			name, value, given = "url", word, true
		}
		if valued[name] && !given {
			if len(words) == 0 {
				return fault.Errorf(fault.Invalid, "A command option has no value.")
			}
			value, words = words[0], words[1:]
		}
		if err := o.setOption(name, value); err != nil {
			return err
		}
	}
	if o.address == "" {
		return fault.Errorf(fault.Invalid, "The command has no URL.")
	}
	return nil
}

// readLetters reads options of one letter; the last one may have its value in the same word.
func (o *commandLine) readLetters(letters string) (name, value string, given bool) {
	for i := range len(letters) {
		name = shortOptions[letters[i]]
		switch {
		case valued[name]:
			return name, letters[i+1:], i+1 < len(letters)
		case name == "get":
			o.get = true
		case name == "head":
			o.head = true
		}
	}
	return name, "", false
}

func (o *commandLine) setOption(name, value string) error {
	switch name {
	case "request":
		o.method = strings.ToUpper(value)
	case "url":
		if o.address != "" {
			return fault.Errorf(fault.Invalid, "The command has more than one URL.")
		}
		o.address = value
	case "header":
		o.addHeader(value)
	case "data", "data-ascii", "data-raw", "data-binary", "data-urlencode", "json":
		return o.addData(name, value)
	case "form", "form-string":
		o.addForm(name, value)
	case "get":
		o.get = true
	case "head":
		o.head = true
	case "user":
		o.user = value
	case "oauth2-bearer":
		o.bearer = value
	case "cookie":
		o.notes = append(o.notes, "Cookies were left out.")
	case "upload-file":
		o.upload = true
	case "url-query":
		o.address += map[bool]string{true: "&", false: "?"}[strings.Contains(o.address, "?")] + value
	case "insecure":
		o.notes = append(o.notes, "Certificates are still verified. The command's --insecure was ignored.")
	case "cert", "key", "proxy", "config", "unix-socket", "resolve":
		o.notes = append(o.notes, "Client certificates, proxies and connection settings were left out.")
	}
	return nil
}

// browserHeaders belong to the program that sent the request.
var browserHeaders = []string{
	"accept-encoding", "accept-language", "cache-control", "connection", "content-length", "cookie", "dnt", "host", "origin", "pragma", "priority",
	"referer", "te", "upgrade-insecure-requests", "user-agent",
}

func (o *commandLine) addHeader(text string) {
	name, value, ok := strings.Cut(text, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	lower := strings.ToLower(name)
	if !ok || value == "" || slices.Contains(browserHeaders, lower) || strings.HasPrefix(lower, "sec-") {
		return
	}
	o.headers = append(o.headers, openapi.Header{Name: name, Value: value})
}

func (o *commandLine) addData(name, value string) error {
	if strings.HasPrefix(value, "@") && name != "data-raw" {
		return fault.Errorf(fault.Invalid, "The command reads its body from a file. Paste the body into the command.")
	}
	if name == "json" {
		o.json = true
	}
	if name == "data-urlencode" {
		field, text, named := strings.Cut(value, "=")
		switch {
		case named && field != "":
			value = field + "=" + url.QueryEscape(text)
		case named:
			value = url.QueryEscape(text)
		default:
			value = url.QueryEscape(value)
		}
	}
	o.data = append(o.data, value)
	return nil
}

func (o *commandLine) addForm(name, text string) {
	field, value, _ := strings.Cut(text, "=")
	isFile := name == "form" && (strings.HasPrefix(value, "@") || strings.HasPrefix(value, "<"))
	if name == "form" && !isFile {
		value, _, _ = strings.Cut(value, ";type=")
	}
	o.form = append(o.form, formField{field, value, isFile})
}
