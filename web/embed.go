package web

import (
	"embed"
	"io/fs"
	"strings"
	"sync"
)

//go:embed static/css static/js static/img static/vendor/*.css static/vendor/*.js static/vendor/*.svg static/vendor/*.woff2
var files embed.FS

// sources says of what files each served file is made.
var sources = map[string][]string{
	"app.css": {
		"css/layers.css", "vendor/basecoat.css", "css/tokens.css", "css/base.css", "css/layout.css",
		"css/components/forms.css", "css/components/panels.css", "css/components/states.css", "css/components/tables.css",
		"css/components/health.css", "css/components/home.css",
		"css/components/tools.css", "css/components/catalog.css", "css/components/try.css", "css/components/calls.css", "css/components/notices.css", "css/components/changes.css", "css/components/grants.css", "css/components/curate.css", "css/components/quotas.css", "css/components/credentials.css", "css/components/diagnosis.css", "css/components/navigation.css",
		"css/components/audit.css",
		"css/components/dialogs.css", "css/components/palette.css", "css/components/shortcuts.css", "css/components/views.css", "css/components/doors.css", "css/components/phone.css",
	},
	"app.js":                     {"js/words.js", "js/app.js", "js/palette.js", "js/live.js", "js/grants.js", "js/keys.js", "js/times.js", "js/messages.js", "js/views.js"},
	"theme.js":                   {"js/theme.js"},
	"htmx.js":                    {"vendor/htmx.js", "vendor/hx-sse.js"},
	"icons.svg":                  {"vendor/icons.svg"},
	"favicon.svg":                {"img/favicon.svg"},
	"geist-latin.woff2":          {"vendor/geist-latin.woff2"},
	"geist-latin-ext.woff2":      {"vendor/geist-latin-ext.woff2"},
	"geist-mono-latin.woff2":     {"vendor/geist-mono-latin.woff2"},
	"geist-mono-latin-ext.woff2": {"vendor/geist-mono-latin-ext.woff2"},
}

// assets is made once, at the first question.
var assets = sync.OnceValue(func() *catalog {
	c := newCatalog()
	for name := range sources {
		if !strings.HasSuffix(name, ".css") {
			c.add(name, content(name))
		}
	}
	// The stylesheet comes last: it names the fonts, whose addresses are known only now.
	c.add("app.css", []byte(c.resolve(string(content("app.css")))))
	return c
})

// content puts the sources of a served file together. Basecoat gets a layer of its own, below all of ours: its theme
// is unlayered and would win over our tokens else.
func content(name string) []byte {
	var b strings.Builder
	for i, path := range sources[name] {
		part, err := fs.ReadFile(files, "static/"+path)
		if err != nil {
			panic("web: " + err.Error()) // embedded files are there, or the program does not compile
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
