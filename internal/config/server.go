package config

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/secret"
)

const (
	defaultAddr = "127.0.0.1:8080"
	// maxDrainTime is longer than any load balancer's check interval, and still bearable for an operator.
	maxDrainTime = 5 * time.Minute
	// Statistics over 30 days need them. The database has the same check for tenants.
	minHistoryDays = 30
	maxHistoryDays = 3650
	// A shorter session is useless, and a longer one is not deleted.
	minSession     = 5 * time.Minute
	maxSession     = 90 * 24 * time.Hour
	defaultSession = 7 * 24 * time.Hour
	defaultIdle    = 24 * time.Hour
	maxModelName   = 200 // bytes; the database has the same check
)

// ServerFlags select how the server listens, its public address, and what it may reach.
type ServerFlags struct {
	Addr         string        `name:"addr" env:"PATCHBAY_ADDR" placeholder:"HOST:PORT" default:"127.0.0.1:8080" help:"Address to listen on (${default})."`
	BaseURL      string        `name:"base-url" env:"PATCHBAY_BASE_URL" placeholder:"URL" help:"Public URL, such as https://patchbay.example.com. Unset: http:// and the listening address."`
	Egress       string        `name:"egress" env:"PATCHBAY_EGRESS" placeholder:"local|public" help:"Reachable addresses. public: https to global addresses; local: also this machine, and http to it. Private networks need PATCHBAY_EGRESS_ALLOW. Unset: local if the listening address and base URL are loopback and no proxies are trusted, else public."`
	EgressAllow  string        `name:"egress-allow" env:"PATCHBAY_EGRESS_ALLOW" placeholder:"LIST" help:"Comma-separated exceptions to the egress rules: cidr:port or host:port."`
	EgressProxy  string        `name:"egress-proxy" env:"PATCHBAY_EGRESS_PROXY" placeholder:"URL" help:"HTTP proxy for all outbound connections, such as http://user:password@proxy.example.com:3128 or https://…. Unset: none; HTTP_PROXY and similar variables are ignored."`
	Proxies      string        `name:"trusted-proxies" env:"PATCHBAY_TRUSTED_PROXIES" placeholder:"LIST" help:"Comma-separated addresses or CIDRs whose X-Forwarded-For is trusted. Unset: none."`
	Stdio        string        `name:"stdio-commands" env:"PATCHBAY_STDIO_COMMANDS" placeholder:"LIST" help:"Comma-separated absolute paths of programs that connectors may run on this machine, as Patchbay's user. Arguments after a path are required exactly; without, any are allowed. args=none, args=prefix, cwd=FOLDER and env=NAME may precede a path. Unset: none."`
	Connectors   int           `name:"max-connectors" env:"PATCHBAY_MAX_CONNECTORS" placeholder:"N" help:"Maximum number of connectors per tenant. Unset: 10000."`
	APIRate      int           `name:"api-rate" env:"PATCHBAY_API_RATE" placeholder:"N" default:"200" help:"JSON API requests per second of each API key and person, per process, with bursts of four seconds (${default}). 0: no limit."`
	TenantRate   int           `name:"api-tenant-rate" env:"PATCHBAY_API_TENANT_RATE" placeholder:"N" default:"400" help:"JSON API requests per second of a tenant's API keys and people together (${default}). 0: no limit."`
	StrangerRate int           `name:"stranger-rate" env:"PATCHBAY_STRANGER_RATE" placeholder:"N" default:"50" help:"Requests per second without sign-in or API key from one address (IPv6: network), per process, with bursts of four seconds (${default}). 0: no limit."`
	AgentRate    int           `name:"agent-rate" env:"PATCHBAY_AGENT_RATE" placeholder:"N" default:"500" help:"Gateway requests per second of each agent, per process, with bursts of four seconds (${default}). Agents with a higher call limit get twice that limit, up to eight times this number. All of a tenant's agents get eight times from one address, sixteen times together. 0: no limit."`
	HistoryDays  int           `name:"history-days" env:"PATCHBAY_HISTORY_DAYS" placeholder:"N" help:"Days to keep calls, sync runs and decided tool changes, from 30 to 3650. Tenants may choose fewer. Unset: 90."`
	SessionIdle  time.Duration `name:"session-idle" env:"PATCHBAY_SESSION_IDLE" placeholder:"DURATION" help:"Idle time after which people are signed out, from 5m, such as 8h. Unset: 24h."`
	SessionLife  time.Duration `name:"session-lifetime" env:"PATCHBAY_SESSION_LIFETIME" placeholder:"DURATION" help:"Maximum session lifetime, up to 2160h (90 days). Unset: 168h (7 days)."`
	Workloads    string        `name:"workload-tokens" env:"PATCHBAY_WORKLOAD_TOKENS" placeholder:"JSON" help:"Files with JWTs of Patchbay's own workload, with which connectors sign in, by name: the servers (host names) that get access tokens for them, and the tenants (slugs, or *) that may use them. Unset: none."`
	Catalog      string        `name:"catalog" env:"PATCHBAY_CATALOG" placeholder:"FILE" help:"YAML file of MCP servers to add to the catalog, or to replace it with. Unset: none."`
	CIMDURL      string        `name:"cimd-url" env:"PATCHBAY_CIMD_URL" placeholder:"URL" help:"URL of the OAuth client metadata, used as client id. Unset: /oauth/client-metadata.json of the base URL, if https."`
	DrainTime    time.Duration `name:"drain-time" env:"PATCHBAY_DRAIN_TIME" placeholder:"DURATION" help:"How long to accept requests after SIGTERM while /readyz returns 503, so that proxies can switch, such as 5s. Unset: 0s."`
	HTTP         string        `name:"http" env:"PATCHBAY_HTTP" placeholder:"fast|standard" default:"fast" help:"HTTP implementation (${default}). fast: Patchbay's own for agents' plain requests and outbound plain HTTP; standard: only Go's net/http, with more CPU per call."`
	SMTPURL      string        `name:"smtp-url" env:"PATCHBAY_SMTP_URL" placeholder:"URL" help:"SMTP server for email: smtp://user:password@mail.example.com:587 (STARTTLS), smtps://…:465, or smtp://localhost:25?tls=none. Unset: no email."`
	SMTPFrom     string        `name:"smtp-from" env:"PATCHBAY_SMTP_FROM" placeholder:"ADDRESS" help:"Sender of email, such as Patchbay <patchbay@example.com>. Required with PATCHBAY_SMTP_URL."`
	EmbedURL     string        `name:"embeddings-url" env:"PATCHBAY_EMBEDDINGS_URL" placeholder:"URL" help:"OpenAI-compatible API for embeddings, such as https://api.example.com/v1. Searches of agents for tools then also go by meaning: definitions of tools and the searches are sent there, also of tenants without a call history. Unset: by words alone."`
	EmbedModel   string        `name:"embeddings-model" env:"PATCHBAY_EMBEDDINGS_MODEL" placeholder:"NAME" help:"Model of the embeddings. Required with PATCHBAY_EMBEDDINGS_URL."`
	EmbedKey     string        `name:"embeddings-key" env:"PATCHBAY_EMBEDDINGS_KEY" placeholder:"KEY" help:"API key for the embeddings. Unset: none."`
	PrivateAddr  string        `name:"private-addr" env:"PATCHBAY_PRIVATE_ADDR" placeholder:"HOST:PORT" help:"Address of /metrics and /debug/pprof. Unset: disabled."`
}

// Egress is a class of reachable upstreams.
type Egress string

// The egress modes.
const (
	EgressLocal  Egress = "local"  // also loopback, by http too; no private networks
	EgressPublic Egress = "public" // https to global addresses
)

// HTTPMode selects the implementation of HTTP.
type HTTPMode string

// The HTTP modes.
const (
	HTTPFast     HTTPMode = "fast"     // the packages below internal/fasthttp, and net/http for the rest
	HTTPStandard HTTPMode = "standard" // only net/http, as server and client
)

// Server is the checked form of ServerFlags.
type Server struct {
	Addr         string
	Egress       Egress
	EgressAllow  string      // with host names in xn-- form; parsed by package safehttp
	EgressProxy  secret.Text // likewise; it can contain a password
	Proxies      []netip.Prefix
	Stdio        []Program     // programs that connectors may start
	APIRate      int           // requests per second of a key or a person; 0: no limit
	TenantRate   int           // likewise of a tenant
	StrangerRate int           // likewise of an address without authentication
	AgentRate    int           // likewise of an agent at the gateway
	Connectors   int           // limit per tenant; 0: the default
	HistoryDays  int           // of history; 0: the default
	SessionIdle  time.Duration // of a browser's session; 0: the default
	SessionLife  time.Duration // of a browser's session, used or not; 0: the default
	Catalog      string        // path of the operator's file of servers; empty: none
	CIMDURL      string        // empty: derived from the base URL
	SMTPURL      secret.Text   // empty: no e-mail; parsed by package mail
	SMTPFrom     string        // of e-mail
	EmbedURL     string        // of an API for embeddings; empty: none
	EmbedModel   string        // of embeddings
	EmbedKey     secret.Text   // of the API for embeddings; empty: none
	PrivateAddr  string        // empty: no private listener
	Workloads    map[string]WorkloadToken
	HTTP         HTTPMode      // of the public listener, and of requests to other servers
	DrainTime    time.Duration // between the start of the shutdown and the end of accepting
	baseURL      *url.URL
}

// BaseURL is the configured public address, or else http at the listener's address.
func (s Server) BaseURL(listening net.Addr) *url.URL {
	if s.baseURL != nil {
		u := *s.baseURL
		return &u
	}
	host, port, err := net.SplitHostPort(listening.String())
	if err != nil {
		return &url.URL{Scheme: "http", Host: listening.String()}
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost" // browsers cannot open 0.0.0.0
	}
	return &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
}

// BaseURLIsSet reports whether the base URL is configured.
func (s Server) BaseURLIsSet() bool { return s.baseURL != nil }

// IsLocal reports whether only this machine uses the server: it listens on loopback, its base URL is loopback,
// and no proxy is trusted. With a proxy on the same machine, a server on loopback may be public.
func (s Server) IsLocal() bool {
	host, _, err := net.SplitHostPort(s.Addr)
	return err == nil && IsLoopback(host) && len(s.Proxies) == 0 && (s.baseURL == nil || IsLoopback(s.baseURL.Hostname()))
}

// Check checks the flags.
func (f ServerFlags) Check() (Server, error) {
	var c fieldErrors
	s := Server{Addr: orDefault(f.Addr, defaultAddr), EgressAllow: c.checkEgressAllow(f.EgressAllow), EgressProxy: secret.Text(f.EgressProxy), PrivateAddr: f.PrivateAddr, Connectors: f.Connectors, Catalog: f.Catalog, HistoryDays: f.HistoryDays, APIRate: f.APIRate, TenantRate: f.TenantRate, StrangerRate: f.StrangerRate, AgentRate: f.AgentRate}
	s.SMTPURL, s.SMTPFrom = secret.Text(f.SMTPURL), f.SMTPFrom
	if (f.SMTPURL == "") != (f.SMTPFrom == "") {
		c.addField("PATCHBAY_SMTP_FROM", "must be set together with PATCHBAY_SMTP_URL.")
	}
	s.EmbedURL, s.EmbedModel, s.EmbedKey = c.checkEmbeddings(f), f.EmbedModel, secret.Text(f.EmbedKey)
	s.SessionIdle, s.SessionLife = c.checkSessions(f.SessionIdle, f.SessionLife)
	if s.DrainTime = f.DrainTime; s.DrainTime < 0 || s.DrainTime > maxDrainTime {
		c.addField("PATCHBAY_DRAIN_TIME", "must be from 0s to %s, not %s.", maxDrainTime, s.DrainTime)
	}
	if f.Connectors < 0 {
		c.addField("PATCHBAY_MAX_CONNECTORS", "must be 1 or more, not %d.", f.Connectors)
	}
	c.checkRates(f)
	if days := f.HistoryDays; days != 0 && (days < minHistoryDays || days > maxHistoryDays) {
		c.addField("PATCHBAY_HISTORY_DAYS", "must be from %d to %d days, not %d.", minHistoryDays, maxHistoryDays, days)
	}
	c.checkListenAddr("PATCHBAY_ADDR", s.Addr)
	if f.PrivateAddr != "" {
		c.checkListenAddr("PATCHBAY_PRIVATE_ADDR", f.PrivateAddr)
	}
	s.baseURL = c.checkBaseURL(f.BaseURL)
	s.CIMDURL = c.checkClientID(f.CIMDURL)
	s.Stdio = c.parsePrograms("PATCHBAY_STDIO_COMMANDS", f.Stdio)
	s.Workloads = c.parseWorkloadTokens(f.Workloads)
	s.Proxies = c.parsePrefixes("PATCHBAY_TRUSTED_PROXIES", f.Proxies)
	switch Egress(f.Egress) {
	case "":
		s.Egress = EgressPublic
		if s.IsLocal() {
			s.Egress = EgressLocal
		}
	case EgressLocal, EgressPublic:
		s.Egress = Egress(f.Egress)
	default:
		c.addField("PATCHBAY_EGRESS", "must be local or public, not %q.", f.Egress)
	}
	s.HTTP = c.checkHTTPMode(f.HTTP)
	return s, c.asFault()
}

// checkEmbeddings checks the settings of embeddings, and returns the URL.
func (c *fieldErrors) checkEmbeddings(f ServerFlags) string {
	if (f.EmbedURL == "") != (f.EmbedModel == "") {
		c.addField("PATCHBAY_EMBEDDINGS_MODEL", "must be set together with PATCHBAY_EMBEDDINGS_URL.")
	}
	if f.EmbedKey != "" && f.EmbedURL == "" {
		c.addField("PATCHBAY_EMBEDDINGS_KEY", "must be set together with PATCHBAY_EMBEDDINGS_URL.")
	}
	if len(f.EmbedModel) > maxModelName {
		c.addField("PATCHBAY_EMBEDDINGS_MODEL", "must have at most %d characters.", maxModelName)
	}
	if f.EmbedURL == "" {
		return ""
	}
	u, err := url.Parse(f.EmbedURL)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || strings.Contains(f.EmbedURL, "#") {
		c.addField("PATCHBAY_EMBEDDINGS_URL", "must be a URL such as https://api.example.com/v1, without user name, query or fragment.")
	}
	return f.EmbedURL
}

// checkHTTPMode checks the mode. Unset means fast.
func (c *fieldErrors) checkHTTPMode(name string) HTTPMode {
	mode := cmp.Or(HTTPMode(name), HTTPFast)
	if mode != HTTPFast && mode != HTTPStandard {
		c.addField("PATCHBAY_HTTP", "must be fast or standard, not %q.", name)
	}
	return mode
}

// checkSessions checks the durations of sessions: the idle timeout cannot exceed the lifetime.
func (c *fieldErrors) checkSessions(idle, life time.Duration) (time.Duration, time.Duration) {
	if life != 0 && (life < minSession || life > maxSession) {
		c.addField("PATCHBAY_SESSION_LIFETIME", "must be from %s to %s, not %s.", minSession, maxSession, life)
		return idle, life
	}
	most := cmp.Or(life, defaultSession)
	if idle != 0 && (idle < minSession || idle > most) {
		c.addField("PATCHBAY_SESSION_IDLE", "must be from %s to the session lifetime of %s, not %s.", minSession, most, idle)
	}
	return cmp.Or(idle, min(defaultIdle, most)), most
}

// checkListenAddr checks a HOST:PORT.
func (c *fieldErrors) checkListenAddr(variable, addr string) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		c.addField(variable, "must be HOST:PORT, such as 127.0.0.1:8080 or :8080, not %q.", addr)
		return
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		c.addField(variable, "must have a port from 0 to 65535, not %q.", addr)
	}
}

func (c *fieldErrors) checkBaseURL(raw string) *url.URL {
	if raw == "" {
		return nil
	}
	const variable = "PATCHBAY_BASE_URL"
	u, err := url.Parse(raw)
	switch {
	case err != nil, u.Host == "", u.Hostname() == "", u.Scheme != "http" && u.Scheme != "https":
		c.addField(variable, "must be a URL such as https://patchbay.example.com.")
	case u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		c.addField(variable, "must have only a scheme and host: no user name, query or fragment.")
	case strings.Trim(u.Path, "/") != "":
		c.addField(variable, "must not have a path, such as %q: Patchbay is served at the root of its host.", u.Path)
	default:
		return &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host)}
	}
	return nil
}

// checkClientID checks a URL that is a client_id. It is compared byte by byte, so it stays verbatim
// (draft-ietf-oauth-client-id-metadata-document section 3).
func (c *fieldErrors) checkClientID(raw string) string {
	if raw == "" {
		return ""
	}
	const variable = "PATCHBAY_CIMD_URL"
	u, err := url.Parse(raw)
	switch {
	case err != nil, u.Scheme != "https", u.Hostname() == "", strings.Trim(u.Path, "/") == "":
		c.addField(variable, "must be an https URL with a path, such as https://patchbay.example.com/oauth/client-metadata.json.")
	case u.User != nil, u.RawQuery != "", u.ForceQuery, strings.Contains(raw, "#"):
		c.addField(variable, "must have only a host and path: no user name, query or fragment.")
	case path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/"):
		c.addField(variable, "must have no dots or empty parts in its path.")
	default:
		return raw
	}
	return ""
}

// parsePrefixes parses addresses and CIDRs separated by commas. A single address is a prefix of one.
func (c *fieldErrors) parsePrefixes(variable, list string) []netip.Prefix {
	var prefixes []netip.Prefix
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(item)
		if ip, ipErr := netip.ParseAddr(item); ipErr == nil && ip.Zone() == "" {
			prefix, err = netip.PrefixFrom(ip, ip.BitLen()), nil
		}
		if err != nil {
			c.addField(variable, "must be comma-separated addresses or CIDRs; %q is neither.", item)
			continue
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes
}

// IsLoopback reports whether a host name or address is loopback.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// checkRates rejects negative rates.
func (c *fieldErrors) checkRates(f ServerFlags) {
	for _, one := range []struct {
		name string
		rate int
	}{
		{"PATCHBAY_API_RATE", f.APIRate}, {"PATCHBAY_STRANGER_RATE", f.StrangerRate}, {"PATCHBAY_API_TENANT_RATE", f.TenantRate}, {"PATCHBAY_AGENT_RATE", f.AgentRate},
	} {
		if one.rate < 0 {
			c.addField(one.name, "must be requests per second, or 0 for no limit, not %d.", one.rate)
		}
	}
}
