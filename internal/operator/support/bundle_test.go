package support

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/config"
)

// hiddenSettings are those of which a bundle only shows whether they are set, because they may contain a
// secret.
var hiddenSettings = []string{"DATABASE_URL", "PATCHBAY_DATABASE_DIRECT_URL", "PATCHBAY_KEYSET", "PATCHBAY_EGRESS_PROXY", "PATCHBAY_SMTP_URL", "PATCHBAY_EMBEDDINGS_KEY", "PATCHBAY_STDIO_COMMANDS"}

func TestSupportBundle_ShowsValuesOfNonSecretSettings(t *testing.T) {
	t.Parallel()
	settings := 0
	for _, flags := range []any{config.ServerFlags{}, config.DatabaseFlags{}, config.LogFlags{}} {
		for i := range reflect.TypeOf(flags).NumField() {
			name := reflect.TypeOf(flags).Field(i).Tag.Get("env")
			settings++
			if slices.Contains(shownSettings, name) == slices.Contains(hiddenSettings, name) {
				t.Errorf("%s is to be shown, or to be hidden: it needs a place in one of the lists", name)
			}
		}
	}
	if settings < 25 {
		t.Errorf("%d settings are found", settings)
	}
	o := Options{
		Server:   config.ServerFlags{Addr: "127.0.0.1:8080", Stdio: "/usr/bin/mcp --token planted-secret"},
		Database: config.DatabaseFlags{URL: "postgres://me:planted-secret@db/p", Keyset: "planted-secret"},
		Environ:  []string{"PATCHBAY_EGRES=planted-secret", "OTEL_EXPORTER_OTLP_HEADERS=api-key=planted-secret"},
	}
	told := settingsOf(t, o)
	for _, want := range []string{
		"PATCHBAY_ADDR                  127.0.0.1:8080\n", "PATCHBAY_STDIO_COMMANDS        set\n", "DATABASE_URL                   set\n",
		"PATCHBAY_KEYSET                set\n", "PATCHBAY_CATALOG               unset\n", "PATCHBAY_EGRES                 unknown setting\n",
		"OTEL_EXPORTER_OTLP_HEADERS     set\n",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("missing: %s", want)
		}
	}
	o.Server.BaseURL = "https://me:planted-secret@patchbay.example.com" // invalid
	for _, text := range []string{told, settingsOf(t, o)} {
		if strings.Contains(text, "planted") {
			t.Errorf("a secret is told:\n%s", text)
		}
	}
}

func settingsOf(t *testing.T, o Options) string {
	t.Helper()
	var told bytes.Buffer
	if err := o.writeSettings(&told); err != nil {
		t.Fatal(err)
	}
	return told.String()
}

func TestSupportBundle_RedactsSecretsOfEnvironment(t *testing.T) {
	t.Parallel()
	b := &Bundle{}
	b.collectSecrets(config.ServerFlags{}, config.DatabaseFlags{URL: "postgres://me:pa%20ss-word@db/p", DirectURL: "postgres://me@db/p?password=direct-word", Keyset: "key-set-text"}, []string{
		"PATCHBAY_PASSWORD=owner-word", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=a=b,api-key=trace%20word", "OTEL_EXPORTER_OTLP_ENDPOINT=http://me:collector-word@x:1",
	})
	for _, secret := range []string{"pa ss-word", "pa%20ss-word", "direct-word", "key-set-text", "owner-word", "trace word", "trace%20word", "collector-word"} {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret))} {
			if cleaned := string(b.redact([]byte("x" + form + "y"))); strings.Contains(cleaned, form) || !strings.HasPrefix(cleaned, "x[removed]") {
				t.Errorf("%s became %s", form, cleaned)
			}
		}
	}
	if packed := []byte("\x1f\x8bowner-word"); !bytes.Equal(b.redact(packed), packed) {
		t.Error("what is packed was changed")
	}
}

func TestSupportBundle_RedactsProxyPasswordInEveryForm(t *testing.T) {
	t.Parallel()
	for address, forms := range map[string][]string{
		"http://patch:proxy-word@proxy.example.com:3128":         {"proxy-word", base64.StdEncoding.EncodeToString([]byte("patch:proxy-word"))},
		"https://patch:proxy%20word%21@proxy.example.com:3128":   {"proxy word!", "proxy%20word%21", base64.StdEncoding.EncodeToString([]byte("patch:proxy word!"))},
		"patch:proxy-word@proxy.example.com:3128":                {"proxy-word"}, // each of these is invalid
		"http://patch:proxy%word@proxy.example.com:3128":         {"proxy%word"},
		"http://patch:proxy@word@proxy.example.com:3128":         {"proxy@word"},
		"socks5://patch:proxy-word@proxy.example.com:1080":       {"proxy-word"},
		"http://patch:proxy-word@proxy.example.com:3128/?a=b#me": {"proxy-word"},
	} {
		b := &Bundle{}
		b.collectSecrets(config.ServerFlags{EgressProxy: address}, config.DatabaseFlags{}, nil)
		for _, form := range append(forms, address) {
			cleaned := string(b.redact([]byte("x " + form + " y")))
			if strings.Contains(cleaned, form) || strings.Contains(cleaned, "word") || !strings.Contains(cleaned, "[removed]") {
				t.Errorf("%s: %s became %s", address, form, cleaned)
			}
		}
		if line := "CONNECT proxy.example.com:3128 of patch"; string(b.redact([]byte(line))) != line {
			t.Errorf("%s: what is no secret was changed", address)
		}
	}
}
