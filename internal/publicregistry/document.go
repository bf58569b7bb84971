package publicregistry

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"time"

	"patchbay/internal/connectors"
)

// serverSchema is the schema that the entries conform to.
const serverSchema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

// allSlug names the entry of the gateway itself. No connector's slug has an underscore.
const allSlug = "all_connectors"

// maxText bounds the title and the description of an entry, in characters: the schema's bound.
const maxText = 100

// listDocument is a page of entries.
type listDocument struct {
	Servers  []entryDocument `json:"servers"`
	Metadata listMetadata    `json:"metadata"`
}

type listMetadata struct {
	Count      int    `json:"count"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// entryDocument is one entry, with the registry's data about it.
type entryDocument struct {
	Server serverDocument `json:"server"`
	Meta   entryMeta      `json:"_meta"`
}

type serverDocument struct {
	Schema      string   `json:"$schema"`
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Version     string   `json:"version"`
	Remotes     []remote `json:"remotes"`
}

type remote struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type entryMeta struct {
	Official officialMeta `json:"io.modelcontextprotocol.registry/official"`
}

type officialMeta struct {
	Status          string    `json:"status"`
	StatusChangedAt time.Time `json:"statusChangedAt"`
	PublishedAt     time.Time `json:"publishedAt"`
	UpdatedAt       time.Time `json:"updatedAt"`
	IsLatest        bool      `json:"isLatest"`
}

// newEntry returns the entry of a connector.
func (s *Service) newEntry(c connectors.RegistryEntry) entryDocument {
	return s.newDocument(c, s.baseURL.JoinPath("mcp", c.Slug).String())
}

// newAllEntry returns the entry of the gateway's own address, where an agent finds all of its connectors.
func (s *Service) newAllEntry(r connectors.Registry) entryDocument {
	return s.newDocument(connectors.RegistryEntry{
		Slug: allSlug, Name: "All connectors", Description: "Every connector that the agent may use, at one address.",
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}, s.baseURL.JoinPath("mcp").String())
}

func (s *Service) newDocument(c connectors.RegistryEntry, url string) entryDocument {
	return entryDocument{
		Server: serverDocument{
			Schema: serverSchema, Name: s.namespace + "/" + c.Slug, Title: cutText(c.Name), Description: cutText(cmp.Or(c.Description, c.Name)),
			Version: versionOf(c.Definitions), Remotes: []remote{{Type: "streamable-http", URL: url}},
		},
		Meta: entryMeta{Official: officialMeta{
			Status: "active", StatusChangedAt: c.CreatedAt, PublishedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, IsLatest: true,
		}},
	}
}

// versionOf returns a semantic version that is equal for equal definitions. Only one version is ever listed, so
// versions need no order.
func versionOf(definitions []byte) string {
	if len(definitions) < 4 {
		return "1.0.0"
	}
	return fmt.Sprintf("1.0.%d", binary.BigEndian.Uint32(definitions)>>1)
}

// cutText cuts a text to the schema's bound.
func cutText(text string) string {
	runes := []rune(text)
	if len(runes) <= maxText {
		return text
	}
	return string(runes[:maxText-1]) + "…"
}
