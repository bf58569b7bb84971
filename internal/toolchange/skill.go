package toolchange

import (
	"bytes"
	"fmt"
)

// skillPrefix begins the stored definition of a skill: its members are sorted.
var skillPrefix = []byte(`{"frontmatter":`)

// IsSkill reports whether a stored definition is that of a skill (SEP-2640): its frontmatter and its files with their digests.
func IsSkill(definition []byte) bool { return bytes.HasPrefix(definition, skillPrefix) }

// skillFileMembers are members of a skill's definition that models are not shown as text.
var skillFileMembers = map[string]bool{"resources": true, "uri": true}

// buildNewSkill rates a new skill. Its files are instructions to models, so that its risk is high.
func (c *comparison) buildNewSkill() Change {
	c.kinds[NewSkill] = true
	c.change.Differences = append([]Difference{{Kind: NewSkill, Sentence: "The skill is new."}}, c.change.Differences...)
	files, _ := c.now["resources"].([]any)
	for _, file := range files {
		f := readSkillFile(file)
		c.add(Difference{Path: truncateText(f.uri), Kind: NewSkill, After: c.shortJSON(f.digest, true), Sentence: "A file of the skill."})
	}
	return c.buildChange()
}

// compareFrontmatter compares the fields of a skill's frontmatter.
func (c *comparison) compareFrontmatter(before, now any) {
	old, wasObject := before.(map[string]any)
	next, isObject := now.(map[string]any)
	if !wasObject || !isObject {
		c.addUncompared("frontmatter", Other, "The frontmatter isn't an object.")
		return
	}
	for _, name := range c.work.memberNames(old, next) {
		a, hadBefore := old[name]
		b, hasNow := next[name]
		if hadBefore == hasNow && c.work.equalValues(a, b) {
			continue
		}
		path := "frontmatter." + truncateText(name)
		if name == "description" {
			path = name
		}
		c.compareText(path, Text, a, b, hadBefore, hasNow)
	}
}

// skillFile is a file of a skill as listed.
type skillFile struct {
	uri    string
	digest any
}

func readSkillFile(value any) skillFile {
	members, _ := value.(map[string]any)
	uri, _ := members["uri"].(string)
	return skillFile{uri: uri, digest: members["digest"]}
}

// compareSkillFiles compares the files of a skill by URI. Their bytes are unknown, so that every difference has high risk.
func (c *comparison) compareSkillFiles(before, now any) {
	old, _ := before.([]any)
	next, _ := now.([]any)
	if !c.work.spendUnits(entryWork * (len(old) + len(next))) {
		return
	}
	known := make(map[string]any, len(old))
	for _, value := range old {
		f := readSkillFile(value)
		known[f.uri] = f.digest
	}
	for _, value := range next {
		f := readSkillFile(value)
		digest, wasListed := known[f.uri]
		delete(known, f.uri)
		switch {
		case !wasListed:
			c.add(Difference{Path: truncateText(f.uri), Kind: SkillFiles, After: c.shortJSON(f.digest, true), Sentence: "A file was added to the skill."})
		case !c.work.equalValues(digest, f.digest):
			c.add(Difference{
				Path: truncateText(f.uri), Kind: SkillFiles, Before: c.shortJSON(digest, true), After: c.shortJSON(f.digest, true), Sentence: "The file's content changed.",
			})
		}
	}
	for _, value := range old {
		if f := readSkillFile(value); known[f.uri] != nil {
			c.add(Difference{Path: truncateText(f.uri), Kind: SkillFiles, Before: c.shortJSON(f.digest, true), Sentence: "The file was removed from the skill."})
		}
	}
	if !c.kinds[SkillFiles] {
		c.add(Difference{Path: "resources", Kind: SkillFiles, Sentence: fmt.Sprintf("The list of %d files changed.", len(next))})
	}
}
