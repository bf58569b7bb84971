package agentview

import (
	"log/slog"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// SkillScheme begins the URIs of most skills (SEP-2640). Exposed URIs keep it: skill://<slug>/<the rest of the upstream URI>.
const SkillScheme = "skill://"

// skillRowBytes is the estimated memory of a skill in a view, without its definitions.
const skillRowBytes = 200

// Skill is an accepted skill of a connector.
type Skill struct {
	URI        string
	Definition []byte // see [connectors.ReadSkill]
}

// connectorSkills are the skills of a connector, indexed on first use. Any file of them that is not accepted is withheld.
type connectorSkills struct {
	rows []store.AccessSkill

	once     sync.Once
	accepted []Skill                           // by URI
	entries  map[string]connectors.SkillEntry  // accepted ones, by URI
	files    map[string][]connectors.SkillFile // accepted ones, by URI: a skill may lie within another one
	roots    []string                          // directories of skills, accepted or not, see sortRoots
	over     []string                          // those of accepted skills over the agent's limit
}

func (s *connectorSkills) readRows() {
	s.entries, s.files = map[string]connectors.SkillEntry{}, map[string][]connectors.SkillFile{}
	for _, row := range s.rows {
		root := foldURI(connectors.SkillRoot(row.URI)) + "/"
		s.roots = append(s.roots, root)
		if row.OverLimit {
			s.over = append(s.over, root)
		}
		if row.Accepted == nil {
			continue
		}
		entry := connectors.DecodeSkill(row.Accepted)
		s.accepted, s.entries[row.URI] = append(s.accepted, Skill{row.URI, row.Accepted}), entry
		for _, f := range entry.Files {
			s.files[f.URI] = append(s.files[f.URI], f)
		}
	}
	s.roots, s.over = sortRoots(s.roots), sortRoots(s.over)
	slices.SortFunc(s.accepted, func(a, b Skill) int { return strings.Compare(a.URI, b.URI) }) // the database may collate differently
}

// sortRoots sorts directories, which end with a slash, and drops those within others: then only the last one that is not after
// a URI can have it.
func sortRoots(roots []string) []string {
	slices.Sort(roots)
	outer := roots[:0]
	for _, root := range roots {
		if len(outer) == 0 || !strings.HasPrefix(root, outer[len(outer)-1]) {
			outer = append(outer, root)
		}
	}
	return outer
}

// indexedSkills returns the skills of the connector.
func (connector *ConnectorView) indexedSkills() *connectorSkills {
	s := &connector.skills
	s.once.Do(s.readRows)
	return s
}

// addSkills adds the skills of the connectors, up to the limit.
func (b *viewBuilder) addSkills() {
	over := 0
	defer func() {
		if over > 0 {
			b.cache.log.Warn("skills over an agent's limit are not served", slog.String("tenant_id", b.view.Tenant.ID.String()),
				slog.String("agent_id", b.view.Agent.ID.String()), slog.Int("skills", over))
		}
	}()
	for _, row := range b.rows.Skills {
		for _, connector := range b.reachesByID[row.ConnectorID] {
			connector.skills.rows = append(connector.skills.rows, row)
			if row.OverLimit {
				over++
			}
			b.view.bytes += int64(skillRowBytes + 2*len(row.Accepted) + len(row.URI)) // the index has the accepted one decoded
		}
	}
}

// Skills returns the accepted skills that the agent's grant includes, by URI.
func (connector *ConnectorView) Skills() []Skill {
	if !connector.grantsSkills() {
		return nil
	}
	return connector.indexedSkills().accepted
}

// grantsSkills reports whether the grant includes the skills of the connector: it does with its resources.
func (connector *ConnectorView) grantsSkills() bool {
	return connector.Grant.IncludesItems(connectors.ItemResource)
}

// SkillAt returns an accepted skill that the agent's grant includes; ok is false if there is none.
func (connector *ConnectorView) SkillAt(uri string) (s Skill, ok bool) {
	i := slices.IndexFunc(connector.Skills(), func(s Skill) bool { return s.URI == uri })
	if i < 0 {
		return Skill{}, false
	}
	return connector.Skills()[i], true
}

// IsSkillURI reports whether a URI is in the directory of a skill that the server lists or listed, accepted or not, however it is
// written.
// Each URI with the scheme skill is one, with or without such a skill.
func (connector *ConnectorView) IsSkillURI(uri string) bool {
	return hasSkillScheme(uri) || connector.inSkill(uri)
}

func hasSkillScheme(uri string) bool {
	if scheme, _, found := strings.Cut(uri, ":"); !found || !strings.Contains(scheme, "%") && !strings.EqualFold(strings.TrimSpace(scheme), "skill") {
		return false // without a fold: each resource of a list is asked about
	}
	return strings.HasPrefix(foldURI(uri), SkillScheme)
}

// inSkill reports whether a URI is in the directory of a skill that the server lists or listed. Servers choose the URIs of whole
// results, so that its time grows with their length only.
func (connector *ConnectorView) inSkill(uri string) bool {
	if len(connector.skills.rows) == 0 {
		return false
	}
	return hasRoot(connector.indexedSkills().roots, uri)
}

// hasRoot reports whether a URI is in one of the directories that sortRoots returned.
func hasRoot(roots []string, uri string) bool {
	place := foldURI(uri) + "/"
	after, found := slices.BinarySearch(roots, place)
	return found || after > 0 && strings.HasPrefix(place, roots[after-1])
}

// HasSkillOverLimit reports whether a URI is in the directory of an accepted skill that is not served, because the agent has
// [store.MaxServedSkills] or [store.MaxServedSkillBytes] before it.
func (connector *ConnectorView) HasSkillOverLimit(uri string) bool {
	return connector.WithholdsSkill(uri) && hasRoot(connector.indexedSkills().over, uri)
}

// SkillsOverLimit counts the accepted skills that the agent isn't served, because it has as many as it may.
func (v *View) SkillsOverLimit() int {
	over := 0
	for _, connector := range v.Connectors {
		if !connector.grantsSkills() {
			continue
		}
		for _, row := range connector.skills.rows {
			if row.OverLimit {
				over++
			}
		}
	}
	return over
}

// WithholdsSkill reports whether a URI is in the directory of a skill that the agent's grant includes, and was not accepted.
func (connector *ConnectorView) WithholdsSkill(uri string) bool {
	return connector.grantsSkills() && len(connector.SkillFiles(uri)) == 0 && connector.inSkill(uri)
}

// SkillFiles returns what was accepted of a file: one entry for each skill that it is in; none: it was not.
func (connector *ConnectorView) SkillFiles(uri string) []connectors.SkillFile {
	return connector.indexedSkills().files[uri]
}

// AcceptedSkill returns the accepted entry of a skill, granted or not; ok is false if there is none.
func (connector *ConnectorView) AcceptedSkill(uri string) (e connectors.SkillEntry, ok bool) {
	e, ok = connector.indexedSkills().entries[uri]
	return e, ok
}

// permitsSkillFile reports whether the agent may read a file of a skill.
func (connector *ConnectorView) permitsSkillFile(uri string) bool {
	return connector.grantsSkills() && len(connector.SkillFiles(uri)) > 0
}

// SkillDirectory returns the names of what is directly in a directory of accepted skills, sorted: files, and directories with a
// slash at their end. nil: it is no directory of one, or not granted.
func (connector *ConnectorView) SkillDirectory(uri string) []string {
	if _, rest, _ := strings.Cut(uri, "://"); rest == "" || !connector.grantsSkills() {
		return nil
	}
	var names []string
	for file := range connector.indexedSkills().files {
		if rest, inside := strings.CutPrefix(file, uri+"/"); inside {
			name, _, isDirectory := strings.Cut(rest, "/")
			if isDirectory {
				name += "/"
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// foldURI returns one form of the spellings of a URI that a server may take for the same: without escapes, dot segments, repeated
// slashes, query and fragment, and in lower case.
func foldURI(uri string) string {
	for range 3 { // escaped escapes
		plain, err := url.PathUnescape(uri)
		if err != nil || plain == uri {
			break
		}
		uri = plain
	}
	uri = strings.ToLower(strings.TrimSpace(strings.ReplaceAll(uri, `\`, "/")))
	if end := strings.IndexAny(uri, "?#"); end >= 0 {
		uri = uri[:end]
	}
	scheme, rest, found := strings.Cut(uri, ":")
	if !found {
		return path.Clean(uri)
	}
	return scheme + ":/" + path.Clean("/"+strings.TrimLeft(rest, "/"))
}

// ExposeSkill returns the definition of a skill with the URIs at the address of all connectors. Its digests stay.
func (connector *ConnectorView) ExposeSkill(definition []byte) ([]byte, error) {
	expose := func(own string) (string, bool) { return connector.Expose(own), true }
	return mcp.EditStrings(definition, mcp.StringEdits{".uri": expose, ".resources[].uri": expose})
}
