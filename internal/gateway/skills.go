package gateway

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"patchbay/internal/agentview"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/serve"
)

// Skills (SEP-2640) are answered from what was accepted, without the server. Their files are resources: package toolcall compares
// each read with the accepted digests.

const (
	skillPageBytes = 4 << 20                  // at which a page of skills/list ends
	skillSettings  = `{"directoryRead":true}` // Patchbay answers it for every server
	directoryType  = "inode/directory"
)

// declaresSkills reports whether the server of a connector has skills.
func declaresSkills(connector *agentview.ConnectorView) bool {
	return bytes.Contains(connector.Capabilities, []byte(revision.SkillsExtension)) &&
		mcp.Extensions(connector.Capabilities, mcp.MaxServerExtensions)[revision.SkillsExtension] != nil
}

// offerSkills replaces a server's settings of the extension by Patchbay's.
func offerSkills(extensions map[string]json.RawMessage) map[string]json.RawMessage {
	if extensions[revision.SkillsExtension] != nil {
		extensions[revision.SkillsExtension] = json.RawMessage(skillSettings)
	}
	return extensions
}

// skillConnectors returns the connectors at this address with servers that have skills.
func (b *backend) skillConnectors() []*agentview.ConnectorView {
	among := b.view.Connectors
	if b.connector != nil {
		among = []*agentview.ConnectorView{b.connector}
	}
	return slices.DeleteFunc(slices.Clone(among), func(c *agentview.ConnectorView) bool { return !declaresSkills(c) })
}

// serveSkills serves the methods of the extension.
func (b *backend) serveSkills(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	among := b.skillConnectors()
	if len(among) == 0 {
		return nil, serve.MethodNotFound(r.Method)
	}
	var params struct {
		URI    string `json:"uri"`
		Cursor string `json:"cursor"`
	}
	if len(r.Params) > 0 && json.Unmarshal(r.Params, &params) != nil {
		return nil, serve.InvalidParams("Can't read the parameters.")
	}
	if err := checkNameLength(params.URI); err != nil {
		return nil, err
	}
	switch r.Method {
	case "skills/list":
		return b.listSkills(among, params.Cursor)
	case "skills/get":
		return b.getSkill(ctx, params.URI)
	}
	return b.readDirectory(params.URI, params.Cursor)
}

// listSkills returns the accepted skills, in the order of slugs and URIs. A cursor names the last one of the page before.
func (b *backend) listSkills(among []*agentview.ConnectorView, cursor string) (json.RawMessage, error) {
	after, err := base64.RawURLEncoding.DecodeString(cursor)
	afterSlug, afterURI, whole := strings.Cut(string(after), "\n")
	if err != nil || cursor != "" && !whole {
		return nil, serve.InvalidParams("The cursor is invalid. List from the start.")
	}
	page, next := []byte(`{"skills":[`), ""
	last, full := "", false
	for _, connector := range among {
		slug := connector.Slug
		for _, s := range connector.Skills() {
			if slug < afterSlug || slug == afterSlug && s.URI <= afterURI {
				continue
			}
			if full {
				next = base64.RawURLEncoding.EncodeToString([]byte(last))
				break
			}
			definition, err := b.exposeSkill(connector, s)
			if err != nil {
				return nil, err
			}
			if last != "" {
				page = append(page, ',')
			}
			page, last = append(page, definition...), slug+"\n"+s.URI
			full = len(page) >= skillPageBytes
		}
	}
	page = append(page, ']')
	if next != "" {
		page = append(page, `,"nextCursor":"`+next+`"`...)
	}
	return append(page, '}'), nil
}

// exposeSkill returns an entry with the URIs of this address.
func (b *backend) exposeSkill(connector *agentview.ConnectorView, s agentview.Skill) ([]byte, error) {
	if b.connector != nil {
		return s.Definition, nil
	}
	return connector.ExposeSkill(s.Definition)
}

func (b *backend) getSkill(ctx context.Context, uri string) (json.RawMessage, error) {
	connector, own := b.findResourceConnector(ctx, uri)
	if connector != nil {
		if s, ok := connector.SkillAt(own); ok {
			definition, err := b.exposeSkill(connector, s)
			if err != nil {
				return nil, err
			}
			return slices.Concat([]byte(`{"skill":`), definition, []byte("}")), nil
		}
		if connector.HasSkillOverLimit(own) {
			return nil, serve.InvalidParams(fmt.Sprintf("The agent has more skills than Patchbay serves: that at %s is beyond the limit. An admin can grant fewer connectors.", truncateName(uri)))
		}
		if connector.WithholdsSkill(own) {
			return nil, serve.InvalidParams(fmt.Sprintf("The skill at %s waits for a review. An admin can accept it.", truncateName(uri)))
		}
	}
	return nil, serve.InvalidParams(fmt.Sprintf("No skill is served at %s.", truncateName(uri)))
}

// skillResource is an entry of a directory.
type skillResource struct {
	URI      string `json:"uri"`
	Name     string `json:"name"`
	MimeType string `json:"mimeType,omitempty"`
	Size     *int64 `json:"size,omitempty"`
}

// readDirectory lists what is directly in a directory of accepted skills. The server is not asked: it may have files that were not
// reviewed.
func (b *backend) readDirectory(uri, cursor string) (json.RawMessage, error) {
	connector, own := b.findDirectoryConnector(uri)
	if connector == nil || cursor != "" {
		return nil, serve.InvalidParams(fmt.Sprintf("%s is no directory of a skill.", truncateName(uri)))
	}
	resources := []skillResource{}
	for _, name := range connector.SkillDirectory(own) {
		name, isDirectory := strings.CutSuffix(name, "/")
		child := own + "/" + name
		entry := skillResource{URI: child, Name: name}
		if b.connector == nil {
			entry.URI = connector.Expose(child)
		}
		switch files := connector.SkillFiles(child); {
		case isDirectory:
			entry.MimeType = directoryType
		case len(files) > 0:
			entry.Size = &files[0].Size
			if path.Ext(name) == ".md" {
				entry.MimeType = "text/markdown"
			}
		}
		resources = append(resources, entry)
	}
	return encodeJSON(map[string]any{"resources": resources})
}

// findDirectoryConnector returns the connector and the upstream URI of a directory of accepted skills; nil: there is none. At the
// address of all connectors, a file of a skill may name the server's own URI. Then the only connector that has it is meant.
func (b *backend) findDirectoryConnector(uri string) (*agentview.ConnectorView, string) {
	if b.connector != nil {
		if b.connector.SkillDirectory(uri) == nil {
			return nil, ""
		}
		return b.connector, uri
	}
	if connector, own := b.view.Resource(uri); connector != nil && connector.SkillDirectory(own) != nil {
		return connector, own
	}
	var found []*agentview.ConnectorView
	for _, connector := range b.view.Connectors {
		if connector.SkillDirectory(uri) != nil {
			found = append(found, connector)
		}
	}
	if len(found) != 1 {
		return nil, ""
	}
	return found[0], uri
}
