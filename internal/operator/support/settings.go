package support

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"patchbay/internal/config"
	"patchbay/internal/kms"
	"patchbay/internal/safehttp"
)

// shownSettings are the settings whose value a bundle shows. The others can contain a secret: a database URL
// its password, a program's arguments a token, a file's text a key.
var shownSettings = []string{
	"PATCHBAY_ADDR", "PATCHBAY_BASE_URL", "PATCHBAY_EGRESS", "PATCHBAY_EGRESS_ALLOW", "PATCHBAY_TRUSTED_PROXIES", "PATCHBAY_MAX_CONNECTORS", "PATCHBAY_API_RATE", "PATCHBAY_API_TENANT_RATE", "PATCHBAY_STRANGER_RATE", "PATCHBAY_AGENT_RATE", "PATCHBAY_HISTORY_DAYS",
	"PATCHBAY_CATALOG", "PATCHBAY_WORKLOAD_TOKENS", "PATCHBAY_CIMD_URL", "PATCHBAY_DRAIN_TIME", "PATCHBAY_HTTP", "PATCHBAY_SESSION_IDLE", "PATCHBAY_SESSION_LIFETIME", "PATCHBAY_PRIVATE_ADDR", "PATCHBAY_SMTP_FROM", "PATCHBAY_EMBEDDINGS_URL", "PATCHBAY_EMBEDDINGS_MODEL", "PATCHBAY_DATABASE_POOLER", "PATCHBAY_DATA_DIR", "PATCHBAY_POSTGRES_BIN",
	"PATCHBAY_LOG_LEVEL", "PATCHBAY_LOG_FORMAT",
}

// writeSettings writes each setting. While one is invalid, no value is shown, because the invalid one may be a
// misplaced secret.
func (o Options) writeSettings(w io.Writer) error {
	_, serverErr := o.Server.Check()
	_, databaseErr := o.Database.Check()
	_, logErr := o.Log.Check()
	_, egressErr := safehttp.ParseAllow(o.Server.EgressAllow)
	wrong := errors.Join(serverErr, databaseErr, logErr, egressErr) != nil
	for _, flags := range []any{o.Server, o.Database, o.Log} {
		v := reflect.ValueOf(flags)
		for i := range v.NumField() {
			name, value := v.Type().Field(i).Tag.Get("env"), "unset"
			switch {
			case v.Field(i).IsZero():
			case !wrong && slices.Contains(shownSettings, name):
				value = fmt.Sprint(v.Field(i).Interface())
			default:
				value = "set"
			}
			if _, err := fmt.Fprintf(w, "%-30s %s\n", name, value); err != nil {
				return err
			}
		}
	}
	if wrong {
		fmt.Fprintln(w, "Some are invalid (see doctor.txt), so all values are left out.")
	}
	for _, line := range o.Environ {
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "OTEL_") {
			fmt.Fprintf(w, "%-30s set\n", name) // of traces; OpenTelemetry's libraries read others, too, which may be keys
		}
	}
	for _, name := range config.UnknownVariables(o.Environ) {
		fmt.Fprintf(w, "%-30s unknown setting\n", name)
	}
	return nil
}

func (b *Bundle) writeVersion(w io.Writer) error {
	fmt.Fprintf(w, "patchbay   %s\ngo         %s\nmachine    %s/%s, %d CPUs for Go\nclock      %s\n", b.version, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), b.made.Format(time.RFC3339Nano))
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if strings.HasPrefix(s.Key, "vcs") || s.Key == "-trimpath" {
				fmt.Fprintf(w, "%-10s %s\n", s.Key, s.Value)
			}
		}
	}
	return nil
}

// minSecretLength is the length from which a value is redacted: shorter ones occur in ordinary words.
const minSecretLength = 6

// collectSecrets collects the secrets of the environment. No part of the bundle should contain one; if a
// driver's error or a path does, it is redacted.
func (b *Bundle) collectSecrets(server config.ServerFlags, d config.DatabaseFlags, environ []string) {
	secrets := []string{d.Keyset}
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		if slices.Contains(config.SecretVariables, name) {
			secrets = append(secrets, strings.TrimSpace(value))
		}
		if name, value, _ := strings.Cut(line, "="); strings.HasPrefix(name, "OTEL_EXPORTER_OTLP_") {
			secrets = append(secrets, findKeys(name, value)...)
		}
	}
	for _, address := range []string{d.URL, d.DirectURL, server.EgressProxy, server.SMTPURL} {
		secrets = append(secrets, findPasswords(address)...)
	}
	var pairs []string
	for _, s := range secrets {
		if len(s) < minSecretLength || strings.HasPrefix(s, "file:") || kms.Is(s) {
			continue
		}
		for _, form := range []string{s, base64.StdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)), hex.EncodeToString([]byte(s))} {
			pairs = append(pairs, form, "[removed]")
		}
	}
	b.secrets = strings.NewReplacer(pairs...)
}

// findKeys returns the secrets of a variable of the traces' collector: header values, and a URL's password.
func findKeys(name, value string) (found []string) {
	if !strings.HasSuffix(name, "HEADERS") {
		return findPasswords(value)
	}
	for header := range strings.SplitSeq(value, ",") {
		_, key, _ := strings.Cut(header, "=")
		found = append(found, strings.TrimSpace(key))
		if plain, err := url.PathUnescape(strings.TrimSpace(key)); err == nil {
			found = append(found, plain)
		}
	}
	return found
}

// findPasswords returns a URL's password as written and unescaped, and with its user name as in
// Proxy-Authorization. It also searches invalid URLs, which error messages may quote.
func findPasswords(address string) (found []string) {
	if u, err := url.Parse(address); err == nil {
		if password, ok := u.User.Password(); ok {
			found = append(found, u.User.Username()+":"+password, password, url.QueryEscape(password), url.PathEscape(password))
		}
		found = append(found, u.Query().Get("password"))
	}
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		rest = address
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		_, written, _ := strings.Cut(rest[:at], ":")
		found = append(found, written)
	}
	return found
}

// redact removes secrets from a text. Compressed files stay unchanged.
func (b *Bundle) redact(body []byte) []byte {
	if bytes.HasPrefix(body, []byte("\x1f\x8b")) {
		return body
	}
	return []byte(b.secrets.Replace(string(body)))
}
