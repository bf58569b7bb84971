package toolcall

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

// blockPaths are where a result has content blocks.
type blockPaths []string

var (
	toolBlocks   = blockPaths{".content[]"}
	taskBlocks   = blockPaths{".content[]", ".result.content[]"}
	promptBlocks = blockPaths{".messages[].content", ".messages[].content[]"}
)

// uncheckedResult replaces a result that cannot be checked: it has invalid UTF-8 or nests too deep.
const uncheckedResult = `{"content":[{"type":"text","text":"Patchbay withheld a result that it can't check."}],"messages":[],"isError":true}`

// withholdSkills returns a result with its embedded files of skills as they were accepted. Others are replaced by a sentence.
// All other bytes stay, and only blocks with a file of a skill are decoded: a result can be long.
func withholdSkills(connector *agentview.ConnectorView, raw json.RawMessage, blocks blockPaths) json.RawMessage {
	if !bytes.Contains(raw, []byte(`"resource"`)) && !bytes.Contains(raw, []byte(`\u00`)) { // escapes may spell the word, too
		return raw
	}
	found := false // in the block that is read
	uris, objects := mcp.StringEdits{}, mcp.ObjectEdits{}
	for _, path := range blocks {
		uris[path+".resource.uri"] = func(uri string) (string, bool) {
			found = found || connector.IsSkillURI(uri)
			return "", false
		}
		objects[path] = func(block []byte) ([]byte, bool) {
			if !found {
				return nil, false
			}
			found = false
			return withholdBlock(connector, block), true
		}
	}
	edited, err := mcp.EditObjects(raw, uris, objects)
	if err != nil {
		return json.RawMessage(uncheckedResult)
	}
	return edited
}

// withholdBlock returns an embedded file of a skill as it was accepted, or a sentence.
func withholdBlock(connector *agentview.ConnectorView, block []byte) []byte {
	resource, err := readEmbeddedSkill(connector, block)
	if err == nil {
		return slices.Concat([]byte(`{"type":"resource","resource":`), resource, []byte("}"))
	}
	sentence := "Patchbay withheld a file of a skill."
	if refusal, ok := errors.AsType[*RefusalError](err); ok {
		sentence = refusal.Sentence
	}
	return slices.Concat([]byte(`{"type":"text","text":`), quoteString(sentence), []byte("}"))
}

// readEmbeddedSkill returns the resource of a block, which the agent's grant must include.
func readEmbeddedSkill(connector *agentview.ConnectorView, block []byte) (json.RawMessage, error) {
	var members struct{ Resource json.RawMessage }
	if err := json.Unmarshal(block, &members); err != nil {
		return nil, err
	}
	var file struct{ URI string }
	if err := json.Unmarshal(members.Resource, &file); err != nil {
		return nil, err
	}
	if !connector.Permits(connectors.CallResource, file.URI) || !connector.IsSkillURI(file.URI) {
		return nil, newSkillRefusal(connector, skillHeld)
	}
	contents, err := checkSkillFile(connector, file.URI, slices.Concat([]byte(`{"contents":[`), members.Resource, []byte("]}")))
	if err != nil {
		return nil, err
	}
	var result struct{ Contents []json.RawMessage }
	if err := json.Unmarshal(contents, &result); err != nil || len(result.Contents) != 1 {
		return nil, newSkillRefusal(connector, skillChanged)
	}
	return result.Contents[0], nil
}

// withholdSkillsOf is [withholdSkills] for a call's result, before anything is kept of it.
func withholdSkillsOf(connector *agentview.ConnectorView, result *mcp.Result) *mcp.Result {
	raw := withholdSkills(connector, result.Raw, toolBlocks)
	if len(raw) == len(result.Raw) && (len(raw) == 0 || &raw[0] == &result.Raw[0]) {
		return result
	}
	checked := taskResult(&mcp.Task{Result: raw})
	checked.NewSession = result.NewSession
	result.Release()
	return checked
}
