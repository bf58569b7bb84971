package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"patchbay/internal/fault"
)

// tomlServers finds Codex's servers in TOML. JSON has no such line: a name there is in quotes, and a colon follows.
var tomlServers = regexp.MustCompile(`(?m)^[ \t]*(?:\[[ \t]*)?["']?mcp_servers["']?[ \t]*[].=]`)

// Bounds of the nesting of TOML: its parser is recursive.
const (
	maxTOMLDepth = 64
	maxTOMLKey   = 64 // parts of a dotted key
)

var longTOMLKey = regexp.MustCompile(`(?:[^\s.=,]+[ \t]*\.[ \t]*){64}`)

// jsonOfTOML returns the servers of a TOML document as JSON, each on its line of the document.
func jsonOfTOML(document []byte) ([]byte, error) {
	if bracketDepth(document) > maxTOMLDepth || longTOMLKey.Match(document) {
		return nil, fault.Errorf(fault.Malformed, "Nested too deeply.")
	}
	var root struct {
		Servers map[string]any `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal(document, &root); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := at.Position()
			return nil, fault.Errorf(fault.Malformed, "Line %d: invalid TOML.", line)
		}
		return nil, fault.Errorf(fault.Malformed, "Not valid TOML.")
	}
	lines := tomlLines(document)
	names := slices.SortedFunc(maps.Keys(root.Servers), func(a, b string) int { return lines[a] - lines[b] })
	out, line := bytes.NewBufferString(`{"mcp_servers":{`), 1
	for i, name := range names {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fault.Errorf(fault.Malformed, "Not valid TOML.")
		}
		value, err := json.Marshal(root.Servers[name])
		if err != nil { // infinity, for example
			return nil, fault.Errorf(fault.Malformed, "Line %d: a value is neither a string nor a number.", max(lines[name], 1))
		}
		if i > 0 {
			out.WriteByte(',')
		}
		for ; line < lines[name]; line++ {
			out.WriteByte('\n')
		}
		out.Write(key)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteString("}}")
	return out.Bytes(), nil
}

// tomlLines returns the line of each server's first table or key.
func tomlLines(document []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(document)
	var table []string
	for p.NextExpression() {
		expression := p.Expression()
		var key []string
		line := 0
		for parts := expression.Key(); parts.Next(); {
			part := parts.Node()
			key = append(key, string(part.Data))
			if line == 0 {
				line = p.Shape(part.Raw).Start.Line
			}
		}
		switch expression.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = key
		case unstable.KeyValue:
			key = slices.Concat(table, key)
		}
		if len(key) > 1 && key[0] == "mcp_servers" && lines[key[1]] == 0 {
			lines[key[1]] = line
		}
	}
	return lines
}

// bracketDepth returns a bound of the nesting of arrays and inline tables. Brackets in texts count, too.
func bracketDepth(document []byte) int {
	depth, deepest := 0, 0
	for _, b := range document {
		switch b {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return deepest
}

// tomlServer is a server in Codex's file.
type tomlServer struct {
	Command     string            `toml:"command,omitempty"`
	Args        []string          `toml:"args,omitempty"`
	Dir         string            `toml:"cwd,omitempty"`
	EnvVars     []string          `toml:"env_vars,omitempty"` // forwarded from Codex's own environment
	URL         string            `toml:"url,omitempty"`
	BearerToken string            `toml:"bearer_token_env_var,omitempty"`
	Headers     map[string]string `toml:"http_headers,omitempty,inline"`
	EnvHeaders  map[string]string `toml:"env_http_headers,omitempty,inline"`
}

var (
	variableAlone  = regexp.MustCompile(`^\$\{([A-Z0-9_]+)\}$`)
	bearerVariable = regexp.MustCompile(`^Bearer \$\{([A-Z0-9_]+)\}$`)
)

// writeTOML returns Codex's file. It names variables where the other clients have placeholders.
func writeTOML(servers map[string]FileServer) string {
	file := map[string]map[string]tomlServer{"mcp_servers": {}}
	for name, s := range servers {
		t := tomlServer{Command: s.Command, Args: s.Args, Dir: s.Dir, EnvVars: slices.Sorted(maps.Keys(s.Env)), URL: s.URL}
		for header, value := range s.Headers {
			found := variableAlone.FindStringSubmatch(value)
			bearer := bearerVariable.FindStringSubmatch(value)
			switch {
			case header == "Authorization" && bearer != nil:
				t.BearerToken = bearer[1]
			case found != nil:
				setHeader(&t.EnvHeaders, header, found[1])
			default:
				setHeader(&t.Headers, header, value)
			}
		}
		file["mcp_servers"][name] = t
	}
	text, err := toml.Marshal(file)
	if err != nil {
		panic(err) // strings alone
	}
	return string(text)
}

func setHeader(headers *map[string]string, name, value string) {
	if *headers == nil {
		*headers = map[string]string{}
	}
	(*headers)[name] = value
}
