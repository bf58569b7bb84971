package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Prefix is the path under which [Static] serves.
const Prefix = "/static/"

// Asset returns the address of a static file: Asset("app.css") is "/static/app.0f3a….css". An unknown name
// returns an address that responds with 404.
func Asset(name string) string {
	if f, ok := assets().byName[name]; ok {
		return f.address
	}
	return Prefix + name
}

// Static serves the files at the addresses of [Asset]. Mount it at [Prefix], without stripping it.
func Static() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := assets().byAddress[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "Only GET and HEAD are served here.", http.StatusMethodNotAllowed)
			return
		}
		f.serve(w, r)
	})
}

// staticFile is one static file, ready to serve.
type staticFile struct {
	address     string
	contentType string
	plain       []byte
	zipped      []byte // nil if it would not be smaller
}

func (f staticFile) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
	body := f.plain
	if f.zipped != nil {
		h.Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = f.zipped
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(body) // a write error means that the browser is gone
}

// assetCatalog finds files by name and by address.
type assetCatalog struct {
	byName    map[string]staticFile
	byAddress map[string]staticFile
}

func newCatalog() *assetCatalog {
	return &assetCatalog{byName: map[string]staticFile{}, byAddress: map[string]staticFile{}}
}

func (c *assetCatalog) add(name string, content []byte) {
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	f := staticFile{
		address:     Prefix + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:8]) + ext,
		contentType: contentType(ext),
		plain:       content,
		zipped:      zip(content),
	}
	c.byName[name] = f
	c.byAddress[f.address] = f
}

var assetReference = regexp.MustCompile(`asset\("([^"]+)"\)`)

// resolve replaces asset("name") in a stylesheet by url() with the file's address.
func (c *assetCatalog) resolve(css string) string {
	return assetReference.ReplaceAllStringFunc(css, func(ref string) string {
		name := assetReference.FindStringSubmatch(ref)[1]
		return `url("` + c.byName[name].address + `")`
	})
}

// contentType does not ask the operating system's list first, which may differ.
func contentType(ext string) string {
	switch ext {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	}
	return mime.TypeByExtension(ext)
}

func zip(content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil
	}
	if _, err := w.Write(content); err != nil {
		return nil
	}
	if err := w.Close(); err != nil || b.Len() >= len(content)*9/10 {
		return nil
	}
	return b.Bytes()
}
