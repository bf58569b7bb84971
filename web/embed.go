package web

import (
	"embed"
	"io/fs"
	"strings"
	"sync"
)

//go:embed static/css static/js static/img static/vendor/*.css static/vendor/*.js static/vendor/*.svg static/vendor/*.woff2
var files embed.FS

// sources lists the files that each served file is built from.
var sources = map[string][]string{
	"app.css": {
		"css/layers.css", "vendor/basecoat.css", "css/tokens.css", "css/base.css", "css/layout.css",
		"css/components/forms.css", "css/components/panels.css", "css/components/states.css", "css/components/tables.css",
		"css/components/health.css", "css/components/home.css",
		"css/components/tools.css", "css/components/catalog.css", "css/components/try.css", "css/components/calls.css", "css/components/notices.css", "css/components/changes.css", "css/components/grants.css", "css/components/curate.css", "css/components/lists.css", "css/components/quotas.css", "css/components/credentials.css", "css/components/diagnosis.css", "css/components/navigation.css",
		"css/components/audit.css",
		"css/components/dialogs.css", "css/components/toasts.css", "css/components/palette.css", "css/components/shortcuts.css", "css/components/views.css", "css/components/doors.css", "css/components/phone.css",
	},
	"app.js":                     {"js/words.js", "js/app.js", "js/forms.js", "js/confirm.js", "js/palette.js", "js/live.js", "js/connector_form.js", "js/grants.js", "js/keys.js", "js/times.js", "js/messages.js", "js/toasts.js", "js/views.js", "js/peek.js", "js/new_calls.js"},
	"theme.js":                   {"js/theme.js"},
	"htmx.js":                    {"vendor/htmx.js", "vendor/hx-sse.js"},
	"icons.svg":                  {"vendor/icons.svg"},
	"favicon.svg":                {"img/favicon.svg"},
	"geist-latin.woff2":          {"vendor/geist-latin.woff2"},
	"geist-latin-ext.woff2":      {"vendor/geist-latin-ext.woff2"},
	"geist-mono-latin.woff2":     {"vendor/geist-mono-latin.woff2"},
	"geist-mono-latin-ext.woff2": {"vendor/geist-mono-latin-ext.woff2"},
}

// assets is built at its first use.
var assets = sync.OnceValue(func() *assetCatalog {
	c := newCatalog()
	for name := range sources {
		if !strings.HasSuffix(name, ".css") {
			c.add(name, readSources(name))
		}
	}
	// The stylesheet comes last, because it refers to the fonts' addresses.
	c.add("app.css", []byte(c.resolve(string(readSources("app.css")))))
	return c
})

// readSources concatenates the sources of a served file. Basecoat gets the lowest layer, because its unlayered
// theme would override our tokens.
func readSources(name string) []byte {
	var b strings.Builder
	for i, path := range sources[name] {
		part, err := fs.ReadFile(files, "static/"+path)
		if err != nil {
			panic("web: " + err.Error()) // embedded files exist, or the program does not compile
		}
		if path == "vendor/basecoat.css" {
			part = []byte("@layer basecoat {\n" + string(part) + "\n}")
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.Write(part)
	}
	return []byte(b.String())
}
