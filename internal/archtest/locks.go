package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// Lock lists the only packages that may import a library.
type Lock struct {
	Library string // import path, and everything below it
	For     []string
	Because string
}

// Locks lists all of them. Tests may import any library.
var Locks = []Lock{
	{
		Library: "github.com/jackc/pgx",
		For:     []string{"cmd/server", "db", "internal/installation", "internal/jobs", "internal/operator/bench", "internal/operator/doctor", "internal/operator/support", "internal/postgres", "internal/queue", "internal/store", "internal/store/dbgen"},
		Because: "SQL is the store's",
	},
	{
		Library: "github.com/riverqueue/river",
		For:     []string{"db", "internal/jobs", "internal/queue"},
		Because: "jobs are named by queue and run by jobs",
	},
	{
		Library: "github.com/tink-crypto/tink-go",
		For:     []string{"internal/secret"},
		Because: "sealing is the business of secret",
	},
	{
		Library: "github.com/elimity-com/scim",
		For:     []string{"internal/scim"},
	},
	{
		Library: "github.com/scim2/filter-parser",
		For:     []string{"internal/scim"},
	},
	{
		Library: "github.com/coreos/go-oidc",
		For:     []string{"internal/sso"},
		Because: "one place verifies ID tokens",
	},
	{
		Library: "github.com/go-jose/go-jose",
		For:     []string{"internal/authserver", "internal/jws", "internal/jws/jwstest"},
		Because: "JWTs of workloads and proofs of clients are verified here",
	},
	{
		Library: "code.dny.dev/ssrf",
		For:     []string{"internal/safehttp"},
		Because: "which addresses may be reached is decided in one place",
	},
	{
		Library: "github.com/pquerna/otp",
		For:     []string{"internal/auth"},
		Because: "codes are judged where passwords are",
	},
	{
		Library: "github.com/wneessen/go-mail",
		For:     []string{"internal/mail"},
		Because: "one place talks to the SMTP server",
	},
	{
		Library: "patchbay/internal/fasthttp/httpserver",
		For:     []string{"cmd/server"},
		Because: "PATCHBAY_HTTP chooses the HTTP server in one place",
	},
	{
		Library: "patchbay/internal/fasthttp/httpclient",
		For:     []string{"internal/safehttp"},
		Because: "PATCHBAY_HTTP chooses the HTTP client in one place",
	},
	{
		Library: "github.com/yosida95/uritemplate",
		For:     []string{"internal/agentview"},
		Because: "which resources match a template is decided in one place, which bounds templates",
	},
	{
		Library: "github.com/itchyny/gojq",
		For:     []string{"internal/openapi/httpcall"},
		Because: "filters are bounded in one place",
	},
	{
		Library: "github.com/alecthomas/kong",
		For:     []string{"cmd/server", "internal/ctl"},
		Because: "command lines are read at the roof, and by the commands for another machine's installation",
	},
}

// Blind bounds the imports of a package.
type Blind struct {
	Room    string
	Ours    []string // packages of ours that it may import
	Std     bool     // false: the standard library is bounded by NotStd
	NotStd  []string // packages of the standard library that it may not import, where Std is false
	Others  []string // libraries that it may import; nil: any
	Because string
}

// Blinds lists all of them.
var Blinds = []Blind{
	{Room: "internal/mcp", Ours: []string{"internal/fault", "internal/fasthttp/contexts", "internal/limit", "internal/mcp/", "internal/safe"}, Std: true, Because: "it could be published"},
	{Room: "internal/mcp/wire", Ours: []string{"internal/fault", "internal/mcp/"}, Std: true, Because: "it could be published"},
	{Room: "internal/mcp/blocks", Std: true, Others: []string{"golang.org/x/sys/cpu"}, Because: "it could be published"},
	{Room: "internal/mcp/revision", Std: true, Others: []string{}, Because: "it could be published"},
	{Room: "internal/mcp/serve", Ours: []string{"internal/limit", "internal/mcp/", "internal/safe"}, Std: true, Others: []string{}, Because: "it could be published"},
	{Room: "internal/jsonschema", Std: true, Others: []string{}, Because: "it could be published"},
	{Room: "internal/mcp/toolfmt", Ours: []string{"internal/jsonschema"}, Std: true, Others: []string{}, Because: "it could be published"},
	{Room: "internal/mcp/sse", Ours: []string{"internal/fault", "internal/mcp/"}, Std: true, Because: "it could be published"},
	{Room: "internal/oauth", Ours: []string{"internal/fault"}, Std: true, Others: []string{"github.com/golang-jwt/jwt", "golang.org/x/oauth2"}, Because: "it could be published"},
	{Room: "web/templates", Ours: []string{"internal/connectors", "internal/i18n"}, Std: true, Others: []string{"github.com/a-h/templ"}, Because: "a page shows what it is given, in the reader's language"},
	{
		Room:    "internal/connectors",
		Ours:    []string{"internal/fault", "internal/secret", "internal/toolchange"},
		NotStd:  []string{"context", "crypto/rand", "database/sql", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec"},
		Because: "rules are pure: no I/O, no clock, no randomness",
	},
	{
		Room:    "internal/clientconfig",
		Ours:    []string{"internal/connectors", "internal/fault", "internal/openapi", "internal/secret"},
		NotStd:  []string{"context", "crypto/rand", "database/sql", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec"},
		Others:  []string{"github.com/kballard/go-shellquote", "github.com/pelletier/go-toml/v2"},
		Because: "a document is text: no I/O, no clock, no randomness",
	},
	{
		Room:    "internal/catalog",
		Ours:    []string{"internal/connectors", "internal/fault"},
		NotStd:  []string{"context", "crypto/rand", "database/sql", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec"},
		Others:  []string{"go.yaml.in/yaml"},
		Because: "a catalog is text: no I/O, no clock, no randomness",
	},
	{
		Room:    "internal/openapi",
		Ours:    []string{"internal/fault", "internal/jsonschema"},
		NotStd:  []string{"context", "crypto/rand", "database/sql", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec"},
		Others:  []string{"go.yaml.in/yaml"},
		Because: "a document is text: no I/O, no clock, no randomness",
	},
	{
		Room:    "internal/openapi/httpcall",
		Ours:    []string{"internal/fault", "internal/jsonschema", "internal/openapi"},
		NotStd:  []string{"crypto/rand", "database/sql", "log", "log/slog", "math/rand", "math/rand/v2", "net", "os", "os/exec"},
		Others:  []string{"github.com/itchyny/gojq", "golang.org/x/net/http/httpguts", "golang.org/x/text/encoding/htmlindex"},
		Because: "it makes requests, and sends none",
	},
	{
		Room:    "internal/openapi/curl",
		Ours:    []string{"internal/fault", "internal/jsonschema", "internal/openapi"},
		NotStd:  []string{"context", "crypto/rand", "database/sql", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec"},
		Others:  []string{"github.com/kballard/go-shellquote"},
		Because: "a command is text: it is read, not run",
	},
	{
		Room:    "internal/toolchange",
		Ours:    []string{"internal/jsonschema"},
		NotStd:  []string{"context", "crypto/rand", "database/sql", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec"},
		Others:  []string{},
		Because: "a comparison is a function of its two sides: no I/O, no clock, no randomness",
	},
	{Room: "internal/fasthttp/contexts", Ours: []string{"internal/safe"}, Std: true, Others: []string{}, Because: "it could be published, with internal/mcp"},
	{Room: "internal/fault", Std: true, Others: []string{}, Because: "everything else imports it"},
	{Room: "internal/safe", Std: true, Others: []string{}, Because: "everything else imports it"},
}

// CheckLocks reports the packages that import a library that is locked to them, and the rooms that a lock names and that do not import it.
func CheckLocks(locks []Lock, rooms []Room, packages []Package) []string {
	wrong := unusedKeys(locks, packages)
	for _, p := range packages {
		if isTestRoom(rooms, p.Path) {
			continue
		}
		for _, lock := range locks {
			if slices.Contains(lock.For, p.Path) {
				continue
			}
			for _, path := range p.Imports {
				if isBelow(path, lock.Library) {
					wrong = append(wrong, fmt.Sprintf("%s imports %s: %s", p.Path, path, lock.Because))
				}
			}
		}
	}
	return wrong
}

// unusedKeys reports the rooms of each lock that do not import its library.
func unusedKeys(locks []Lock, packages []Package) []string {
	var wrong []string
	for _, lock := range locks {
		for _, room := range lock.For {
			if !slices.ContainsFunc(packages, func(p Package) bool {
				return p.Path == room && slices.ContainsFunc(p.Imports, func(path string) bool { return isBelow(path, lock.Library) })
			}) {
				wrong = append(wrong, fmt.Sprintf("%s does not import %s: take it out of the lock", room, lock.Library))
			}
		}
	}
	return wrong
}

// CheckBlinds reports the packages that see more than they should, and the blinds of rooms that are not there.
func CheckBlinds(blinds []Blind, packages []Package) []string {
	var wrong []string
	for _, blind := range blinds {
		if !slices.ContainsFunc(packages, func(p Package) bool { return p.Path == blind.Room }) {
			wrong = append(wrong, fmt.Sprintf("%s has a blind and no package", blind.Room))
		}
		for _, p := range packages {
			if p.Path != blind.Room {
				continue
			}
			for _, path := range p.Imports {
				if !blind.sees(path) {
					wrong = append(wrong, fmt.Sprintf("%s imports %s: %s", p.Path, path, blind.Because))
				}
			}
		}
	}
	return wrong
}

func (b Blind) sees(path string) bool {
	if below, ok := strings.CutPrefix(path, Module+"/"); ok {
		return slices.ContainsFunc(b.Ours, func(o string) bool {
			return below == o || strings.HasSuffix(o, "/") && strings.HasPrefix(below, o)
		})
	}
	if isStandard(path) {
		return b.Std || !slices.Contains(b.NotStd, path)
	}
	return b.Others == nil || slices.ContainsFunc(b.Others, func(o string) bool { return isBelow(path, o) })
}

// isBelow reports whether path is library or below it; a major version's suffix is below it, too.
func isBelow(path, library string) bool {
	return path == library || strings.HasPrefix(path, library+"/")
}

// isStandard goes by the rule of the go command: the standard library has no dot in its first element.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func isTestRoom(rooms []Room, path string) bool {
	return slices.ContainsFunc(rooms, func(r Room) bool { return r.Path == path && r.Floor == Tests })
}
