package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Exit allows a package to open connections, or to resolve names, without safehttp.
type Exit struct {
	Room    string
	Name    string // what it uses for that: import path, dot, name
	Because string
}

// Exits lists all of them. All other outbound requests use the client of internal/safehttp. Tests are not checked.
var Exits = []Exit{
	{Room: "internal/safehttp", Name: "net/http.Client", Because: "it is the one client"},
	{Room: "internal/safehttp", Name: "net/http.Transport", Because: "it is the one client's, for TLS"},
	{Room: "internal/safehttp", Name: "net.Dialer", Because: "it checks each address that it connects to"},
	{Room: "internal/safehttp", Name: "crypto/tls.Client", Because: "the operator's proxy may speak TLS"},
	{Room: "internal/safehttp", Name: "net.Resolver", Because: "tests have names mean what they need"},
	{Room: "client", Name: "net/http.Client", Because: "it is for other programs, and for an admin's own machine: it asks the one installation that it is told"},
	{Room: "internal/mcpadmin", Name: "net/http.Client", Because: "its transport is the JSON API in the same process: nothing is connected to"},
	{Room: "internal/toolsync", Name: "net/http.Client", Because: "its transport is the MCP server in the same process: nothing is connected to"},
	{Room: "internal/sso", Name: "net.DefaultResolver", Because: "it looks up the TXT record that proves a domain: nothing is connected to"},
	{Room: "internal/oauth", Name: "golang.org/x/oauth2/clientcredentials.Config", Because: "its request goes through the client that is handed in"},
	{Room: "internal/oauth", Name: "net/http.Client", Because: "its transport hands each request to the client that is handed in"},
	{Room: "internal/sso", Name: "golang.org/x/oauth2.Config", Because: "each of its requests has the client of safehttp in its context"},
	{Room: "internal/kms", Name: "github.com/aws/aws-sdk-go-v2/config.LoadDefaultConfig", Because: "it asks who we are at AWS, of the pod, the task, the machine or STS, where the operator's environment says that; the key is asked for by the client of safehttp"},
	{Room: "internal/operator/doctor", Name: "net.ResolveTCPAddr", Because: "doctor reads the operator's own PATCHBAY_ADDR"},
	{Room: "internal/installation", Name: "net.ResolveTCPAddr", Because: "import reads the operator's own PATCHBAY_ADDR"},
	{Room: "internal/tracing/otlp", Name: "go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp.*", Because: "it leads to the operator's collector of traces"},
	{Room: "internal/mail", Name: "github.com/wneessen/go-mail.NewClient", Because: "it leads to the operator's PATCHBAY_SMTP_URL"},
	{Room: "db", Name: "net.Dialer", Because: "it leads to the operator's DATABASE_URL"},
}

// waysOut are the names that connect, look up, or make what does; "*" is every name of a package.
var waysOut = map[string][]string{
	"crypto/tls": {"Client", "Dial", "DialWithDialer", "Dialer"},
	"log/syslog": {"*"},
	"net": {
		"DefaultResolver", "Dial", "DialIP", "DialTCP", "DialTimeout", "DialUDP", "DialUnix", "Dialer", "FileConn", "LookupAddr", "LookupCNAME", "LookupHost",
		"LookupIP", "LookupMX", "LookupNS", "LookupPort", "LookupSRV", "LookupTXT", "ResolveIPAddr", "ResolveTCPAddr", "ResolveUDPAddr", "Resolver",
	},
	"net/http":          {"Client", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm", "Transport"},
	"net/http/httputil": {"NewClientConn", "NewProxyClientConn", "NewSingleHostReverseProxy", "ReverseProxy"},
	"net/rpc":           {"*"},
	"net/rpc/jsonrpc":   {"*"},
	"net/smtp":          {"*"},
	"net/textproto":     {"Dial"},
	"syscall":           {"Connect", "SYS_CONNECT", "SYS_SOCKET", "Socket"},
	"github.com/aws/aws-sdk-go-v2/aws/transport/http":                 {"*"},
	"github.com/aws/aws-sdk-go-v2/config":                             {"LoadDefaultConfig"},
	"github.com/coder/websocket":                                      {"*"},
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp": {"*"},
	"github.com/gorilla/websocket":                                    {"*"},
	"github.com/wneessen/go-mail":                                     {"NewClient", "QuickSend"},
	"golang.org/x/net/http2":                                          {"*"},
	"golang.org/x/net/proxy":                                          {"*"},
	"golang.org/x/net/websocket":                                      {"*"},
	"golang.org/x/oauth2":                                             {"Config", "NewClient", "Transport"}, // without a client it takes the default one
	"golang.org/x/oauth2/clientcredentials":                           {"Config"},
	"golang.org/x/sys/unix":                                           {"Connect", "SYS_CONNECT", "SYS_SOCKET", "Socket"},
	"google.golang.org/grpc":                                          {"*"},
}

// wayOut is one place in a file that leads out.
type wayOut struct {
	at   token.Pos
	name string // import path, dot, name
}

// waysOut finds them in reading order. A *http.Client is none where it is handed in: a pointer makes nothing.
func (s *scan) waysOut() []wayOut {
	var all []wayOut
	for _, spec := range s.file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value) // the parser has read it
		names := waysOut[path]
		switch {
		case names == nil:
		case names[0] == "*", spec.Name != nil && spec.Name.Name == ".":
			all = append(all, wayOut{spec.Pos(), path + ".*"})
		default:
			all = append(all, s.mentions(path, names)...)
		}
	}
	slices.SortFunc(all, func(a, b wayOut) int { return int(a.at - b.at) })
	return all
}

func (s *scan) mentions(path string, names []string) (all []wayOut) {
	local := s.localName(path)
	pointers := map[ast.Node]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if star, ok := n.(*ast.StarExpr); ok {
			pointers[star.X] = true
		}
		for _, name := range names {
			handedIn := path == "net/http" && name == "Client" && pointers[n]
			if isSelector(n, local, name) && !handedIn {
				all = append(all, wayOut{n.Pos(), path + "." + name})
			}
		}
		return true
	})
	return all
}

// exits refuses the ways out that are none of the room's.
func (s *scan) exits(room string) {
	for _, way := range s.waysOut() {
		if !slices.ContainsFunc(Exits, func(e Exit) bool { return e.Room == room && e.Name == way.name }) {
			s.complain(way.at, "%s: what leaves goes through safehttp", way.name)
		}
	}
}

// CheckExits returns the rows of the list without a reason, and those that nothing uses.
func CheckExits(list []Exit, packages []Package) ([]string, error) {
	used := map[[2]string]bool{}
	for _, p := range packages {
		for _, name := range p.Files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", name, err)
			}
			s := scan{files: files, file: file}
			for _, way := range s.waysOut() {
				used[[2]string{p.Path, way.name}] = true
			}
		}
	}
	var wrong []string
	for _, e := range list {
		if !used[[2]string{e.Room, e.Name}] {
			wrong = append(wrong, fmt.Sprintf("%s does not use %s: take its row out of exits.go", e.Room, e.Name))
		}
		if e.Because == "" {
			wrong = append(wrong, fmt.Sprintf("%s uses %s, and nothing says why", e.Room, e.Name))
		}
	}
	return wrong, nil
}
