package toolcall

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

// Files of skills (SEP-2640) are read as resources. Agents get a file only with the digest and the size that a reviewer accepted:
// each read is compared, so that it does not matter when the server changed the file and when the next sync is.

// Sentences about files of skills.
const (
	skillChanged   = "%q changed this file of a skill. Agents get it once an admin accepts the new version."
	skillHeld      = "This file isn't in a version of a skill of %q that an admin accepted."
	skillDiffers   = "The SKILL.md that %q sent doesn't have the frontmatter that was reviewed."
	skillOverLimit = "This agent has more skills than Patchbay serves, and this one of %q is beyond the limit. An admin can grant fewer connectors."
	skillEmbedded  = "The result of %q contains a file of a skill. Read that file by its own URI."
)

func newSkillRefusal(connector *agentview.ConnectorView, sentence string) error {
	return &RefusalError{Code: CodeHeld, Sentence: fmt.Sprintf(sentence, connector.Connector.Name)}
}

// checkResource compares the result of a read or a prompt with the accepted skills, and returns what the agent gets: of a file of
// a skill nothing but its bytes and media type.
func (q *UpstreamRequest) checkResource(raw json.RawMessage) (json.RawMessage, error) {
	switch {
	case q.Kind == connectors.CallPrompt:
		return withholdSkills(q.Connector, raw, promptBlocks), nil
	case q.Kind != connectors.CallResource:
		return raw, nil
	case q.Connector.IsSkillURI(q.Name):
		return checkSkillFile(q.Connector, q.Name, raw)
	case containsSkillFile(q.Connector, raw, ".contents[].uri"):
		return nil, newSkillRefusal(q.Connector, skillEmbedded)
	}
	return raw, nil
}

// containsSkillFile reports whether a path of a JSON document has the URI of a file of a skill.
func containsSkillFile(connector *agentview.ConnectorView, raw json.RawMessage, path string) (found bool) {
	_, err := mcp.EditStrings(raw, mcp.StringEdits{path: func(uri string) (string, bool) {
		found = found || connector.IsSkillURI(uri)
		return "", false
	}})
	return found || err != nil
}

// skillContents is the contents of a file in a result.
type skillContents struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     *string `json:"blob,omitempty"` // in base64
}

// decodeBytes returns the file's bytes; false: it has none, or two forms of them.
func (c skillContents) decodeBytes() ([]byte, bool) {
	switch {
	case (c.Text == nil) == (c.Blob == nil):
		return nil, false
	case c.Text != nil:
		return []byte(*c.Text), true
	}
	plain, err := base64.StdEncoding.Strict().DecodeString(*c.Blob)
	return plain, err == nil
}

// mediaType is the form of a media type that is relayed, with at most a charset.
var mediaType = regexp.MustCompile(`^[a-z]+/[a-z0-9.+-]{1,80}(; ?charset=[A-Za-z0-9-]{1,20})?$`)

// checkSkillFile returns the result of a read of a skill's file with one content and without other members. It fails unless the
// bytes have a digest and a size that were accepted.
func checkSkillFile(connector *agentview.ConnectorView, uri string, raw json.RawMessage) (json.RawMessage, error) {
	var result struct {
		Contents []skillContents `json:"contents"`
	}
	if json.Unmarshal(raw, &result) != nil || len(result.Contents) != 1 || result.Contents[0].URI != uri {
		return nil, newSkillRefusal(connector, skillChanged)
	}
	file := result.Contents[0]
	if err := checkSkillContents(connector, file); err != nil {
		return nil, err
	}
	if !mediaType.MatchString(file.MimeType) {
		file.MimeType = ""
	}
	result.Contents[0] = file
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(result)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func checkSkillContents(connector *agentview.ConnectorView, file skillContents) error {
	accepted := connector.SkillFiles(file.URI)
	if len(accepted) == 0 {
		return newSkillRefusal(connector, skillHeld)
	}
	plain, ok := file.decodeBytes()
	if !ok || !isAcceptedFile(accepted, plain) {
		return newSkillRefusal(connector, skillChanged)
	}
	if entry, isSkill := connector.AcceptedSkill(file.URI); isSkill && !hasFrontmatter(plain, entry.Frontmatter) {
		return newSkillRefusal(connector, skillDiffers)
	}
	return nil
}

func isAcceptedFile(accepted []connectors.SkillFile, plain []byte) bool {
	sum := sha256.Sum256(plain)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	for _, f := range accepted {
		if f.Digest == digest && f.Size == int64(len(plain)) {
			return true
		}
	}
	return false
}
