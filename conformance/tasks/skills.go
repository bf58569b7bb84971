package main

import (
	"crypto/sha256"
	"encoding/hex"
)

// skillsExtension is that of SEP-2640. Besides skills/list, its methods are Patchbay's own.
const skillsExtension = "io.modelcontextprotocol/skills"

const skillURI = "skill://acme/refunds/SKILL.md"

// skillFiles are the files of the only skill.
var skillFiles = map[string]string{
	skillURI:                                 "---\nname: refunds\ndescription: Refund a customer\n---\n\nSee templates/mail.md.\n",
	"skill://acme/refunds/templates/mail.md": "Dear customer,\n",
}

func listSkills() jsonMembers {
	var files []jsonMembers
	for uri, text := range skillFiles {
		sum := sha256.Sum256([]byte(text))
		files = append(files, jsonMembers{"uri": uri, "digest": "sha256:" + hex.EncodeToString(sum[:]), "size": len(text)})
	}
	frontmatter := jsonMembers{"name": "refunds", "description": "Refund a customer"}
	return jsonMembers{
		"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
		"skills": []jsonMembers{{"uri": skillURI, "frontmatter": frontmatter, "resources": files}},
	}
}

func listResources() jsonMembers {
	skill := jsonMembers{"uri": skillURI, "name": "refunds", "description": "Refund a customer", "mimeType": "text/markdown"}
	return jsonMembers{"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "resources": []jsonMembers{skill}}
}

func readResource(uri string) (jsonMembers, *rpcError) {
	text, ok := skillFiles[uri]
	if !ok {
		return nil, &rpcError{Code: codeInvalidParams, Message: "No such resource."}
	}
	contents := []jsonMembers{{"uri": uri, "mimeType": "text/markdown", "text": text}}
	return jsonMembers{"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "contents": contents}, nil
}
