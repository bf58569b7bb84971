package connectors

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Skills of MCP servers (SEP-2640): directories of files that are read as resources. What a reviewer accepts is a skill's entry:
// its frontmatter, and the digest of each file.

// Bounds of a skill. SEP-2640 has the first two.
const (
	MaxSkillFiles   = 512
	MaxSkillBytes   = 16 << 20 // of all files
	maxSkillEntry   = 512 << 10
	maxSkillURI     = 1024 // bytes
	maxSkillDepth   = 16   // levels of a frontmatter
	skillFile       = "/SKILL.md"
	SkillDigestSize = len("sha256:") + 64
)

// skillToolPrefix begins the name of a skill where names of tools are: in changes and decisions. No tool is listed under one.
const skillToolPrefix = "skill:"

// SkillTool returns the name of a skill in changes.
func SkillTool(uri string) string { return skillToolPrefix + uri }

// SkillOfTool returns the URI of the skill that a name in changes is of; ok is false for a tool.
func SkillOfTool(name string) (uri string, ok bool) { return strings.CutPrefix(name, skillToolPrefix) }

// SkillFile is a file of a skill.
type SkillFile struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // sha256:<64 hexadecimal digits>
	Size   int64  `json:"size"`   // bytes
}

// SkillEntry is what a server lists of a skill.
type SkillEntry struct {
	Frontmatter json.RawMessage `json:"frontmatter"`
	Files       []SkillFile     `json:"resources"` // sorted by URI
	URI         string          `json:"uri"`       // of its SKILL.md
}

// Skill is a skill of a connector.
type Skill struct {
	URI         string
	Current     Definition // as the server last listed it
	Accepted    *Definition
	Review      Review
	FirstSeenAt time.Time
	ChangedAt   time.Time
	RemovedAt   *time.Time // nil: not removed
}

// Name returns the skill's name: the last segment of its directory.
func (s Skill) Name() string { return path.Base(SkillRoot(s.URI)) }

// Description returns that of the current frontmatter.
func (s Skill) Description() string { return DecodeSkill(s.Current.Raw).Description() }

// SkillRoot returns the directory of a skill, without a slash at its end.
func SkillRoot(uri string) string { return strings.TrimSuffix(uri, skillFile) }

// DecodeSkill returns the entry of a stored definition.
func DecodeSkill(definition []byte) (e SkillEntry) {
	_ = json.Unmarshal(definition, &e) // written by ReadSkill
	return e
}

// Description returns that of the frontmatter.
func (e SkillEntry) Description() string {
	var f struct{ Description string }
	_ = json.Unmarshal(e.Frontmatter, &f)
	return f.Description
}

// Fields returns the frontmatter, decoded.
func (e SkillEntry) Fields() (fields map[string]any) {
	_ = json.Unmarshal(e.Frontmatter, &fields)
	return fields
}

// Bytes returns the size of all files.
func (e SkillEntry) Bytes() (sum int64) {
	for _, f := range e.Files {
		sum += f.Size
	}
	return sum
}

// ReadSkill reads an entry of skills/list. defect is a sentence about why it is not served; empty: it is. The definition has one
// form: two entries that mean the same are equal.
func ReadSkill(raw json.RawMessage) (d Definition, defect string) {
	var entry struct {
		URI         string          `json:"uri"`
		Frontmatter map[string]any  `json:"frontmatter"`
		Resources   json.RawMessage `json:"resources"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err := dec.Decode(&entry)
	d.Name = SkillTool(entry.URI) // also of an entry with members of other types
	if len(raw) > maxSkillEntry {
		return d, "The entry is larger than 512 KiB."
	}
	if err != nil || entry.Frontmatter == nil {
		return d, "The entry isn't an object with a frontmatter."
	}
	if defect := checkSkillURI(entry.URI); defect != "" {
		return d, defect
	}
	if !strings.HasSuffix(entry.URI, skillFile) {
		return d, "The URI doesn't end with /SKILL.md."
	}
	if defect := checkFrontmatter(entry.Frontmatter, path.Base(SkillRoot(entry.URI))); defect != "" {
		return d, defect
	}
	files, defect := readSkillFiles(entry.URI, entry.Resources)
	if defect != "" {
		return d, defect
	}
	d.Raw = encodeSkill(entry.Frontmatter, files, entry.URI)
	d.Hash = HashDefinition(d.Raw)
	return d, ""
}

// encodeSkill encodes an entry with sorted members and without HTML escapes.
func encodeSkill(frontmatter map[string]any, files []SkillFile, uri string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(struct { // decoded values always encode
		Frontmatter map[string]any `json:"frontmatter"`
		Files       []SkillFile    `json:"resources"`
		URI         string         `json:"uri"`
	}{frontmatter, files, uri})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// skillName is the form of names in the specification of Agent Skills.
var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func checkFrontmatter(frontmatter map[string]any, directory string) (defect string) {
	name, _ := frontmatter["name"].(string)
	description, _ := frontmatter["description"].(string)
	switch {
	case name == "" || description == "":
		return "The frontmatter has no name or no description."
	case name != directory:
		return "The last segment of the directory isn't the name in the frontmatter."
	case len(name) > 64 || !skillName.MatchString(name):
		return "The name isn't 1–64 lowercase letters, digits and single hyphens."
	case !nestsWithin(frontmatter, maxSkillDepth):
		return "The frontmatter nests too deep."
	}
	return ""
}

// nestsWithin reports whether a decoded value has at most this many levels.
func nestsWithin(value any, levels int) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, child := range v {
			if levels == 0 || !nestsWithin(child, levels-1) {
				return false
			}
		}
	case []any:
		for _, child := range v {
			if levels == 0 || !nestsWithin(child, levels-1) {
				return false
			}
		}
	}
	return true
}

func readSkillFiles(skill string, raw json.RawMessage) (files []SkillFile, defect string) {
	if string(raw) == `"dynamic"` {
		return nil, "The content is dynamic: without digests, nothing of it can be reviewed."
	}
	var listed []struct {
		URI    string `json:"uri"`
		Digest string `json:"digest"`
		Size   *int64 `json:"size"`
	}
	if json.Unmarshal(raw, &listed) != nil || len(listed) == 0 {
		return nil, "The resources aren't a list of files with uri, digest and size."
	}
	if len(listed) > MaxSkillFiles {
		return nil, "The skill has more than 512 files."
	}
	root, total := SkillRoot(skill)+"/", int64(0)
	for _, f := range listed {
		switch {
		case checkSkillURI(f.URI) != "":
			return nil, checkSkillURI(f.URI)
		case !strings.HasPrefix(f.URI, root):
			return nil, "A file isn't in the skill's directory."
		case !isDigest(f.Digest):
			return nil, "A digest isn't sha256: and 64 lowercase hexadecimal digits."
		case f.Size == nil || *f.Size < 0 || *f.Size > MaxSkillBytes:
			return nil, "A file has no size, or is larger than 16 MiB."
		}
		if total += *f.Size; total > MaxSkillBytes {
			return nil, "The files are larger than 16 MiB in total."
		}
		files = append(files, SkillFile{URI: f.URI, Digest: f.Digest, Size: *f.Size})
	}
	slices.SortFunc(files, func(a, b SkillFile) int { return cmp.Compare(a.URI, b.URI) })
	listedURIs := make(map[string]bool, len(files))
	for _, f := range files {
		if listedURIs[f.URI] {
			return nil, "A file is listed twice."
		}
		listedURIs[f.URI] = true
	}
	for _, f := range files {
		for dir := parentURI(f.URI); len(dir) > len(root); dir = parentURI(dir) {
			if listedURIs[dir] {
				return nil, "A file is also a directory."
			}
		}
	}
	if !listedURIs[skill] {
		return nil, "The resources lack the SKILL.md."
	}
	return files, ""
}

// parentURI returns the URI of the directory of a file or directory.
func parentURI(uri string) string { return uri[:strings.LastIndexByte(uri, '/')] }

func isDigest(text string) bool {
	digits, ok := strings.CutPrefix(text, "sha256:")
	if !ok || len(text) != SkillDigestSize || strings.ToLower(digits) != digits {
		return false
	}
	_, err := hex.DecodeString(digits)
	return err == nil
}

// skillScheme is the form of a URI's beginning: a scheme in lower case, which is not one that Patchbay exposes.
var skillScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)

// checkSkillURI refuses a URI of a skill or of its files that two programs may read as different ones.
func checkSkillURI(uri string) (defect string) {
	const invalid = "A URI isn't plain: it has a query, a fragment, an empty or a dot segment, or characters to be escaped."
	scheme := skillScheme.FindString(uri)
	switch {
	case len(uri) > maxSkillURI:
		return "A URI is longer than 1 KiB."
	case scheme == "" || scheme == "ui://" || strings.HasPrefix(scheme, "patchbay"):
		return "A URI has no scheme that skills can have."
	case !utf8.ValidString(uri) || strings.ContainsAny(uri, `?#\<>"{}|^`+"`") || strings.ContainsFunc(uri, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || Hidden(r)
	}):
		return invalid
	}
	for segment := range strings.SplitSeq(uri[len(scheme):], "/") {
		plain, err := url.PathUnescape(segment)
		if err != nil || plain == "" || plain == "." || plain == ".." || strings.ContainsAny(plain, `/\`) || strings.ContainsFunc(plain, unicode.IsControl) {
			return invalid
		}
	}
	return ""
}

// WithheldSkills returns the URIs of entries that are not served, as far as they can be one of a skill.
func WithheldSkills(quarantined []Quarantined) (uris []string) {
	for _, q := range quarantined {
		if uri, isSkill := SkillOfTool(*q.Name); isSkill && uri != "" && len(uri) <= maxSkillURI {
			uris = append(uris, uri)
		}
	}
	slices.Sort(uris)
	return slices.Compact(uris)
}

// HashSkills identifies a list of skills with its quarantined entries; nil: there are none.
func HashSkills(skills []Definition, quarantined []Quarantined) *Hash {
	if len(skills)+len(quarantined) == 0 {
		return nil
	}
	h := ListHash(skills, quarantined)
	return &h
}
