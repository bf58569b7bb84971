package connectors_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

const emptyDigest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// skillEntry returns an entry with some files besides its SKILL.md.
func skillEntry(uri, name string, files ...string) string {
	resources := []string{fmt.Sprintf(`{"uri":%q,"digest":%q,"size":0}`, uri, emptyDigest)}
	for _, file := range files {
		resources = append(resources, fmt.Sprintf(`{"uri":%q,"digest":%q,"size":1}`, file, emptyDigest))
	}
	return fmt.Sprintf(`{"uri":%q,"frontmatter":{"name":%q,"description":"d"},"resources":[%s]}`, uri, name, strings.Join(resources, ","))
}

func TestReadSkill_HasOneForm(t *testing.T) {
	t.Parallel()
	a, defect := connectors.ReadSkill(json.RawMessage(`{"uri":"skill://a/SKILL.md","x":1,"frontmatter":{"name":"a","description":"<d>","n":1.50},
		"resources":[{"uri":"skill://a/b.md","digest":"` + emptyDigest + `","size":3},{"size":0,"digest":"` + emptyDigest + `","uri":"skill://a/SKILL.md"}]}`))
	if defect != "" {
		t.Fatal(defect)
	}
	want := `{"frontmatter":{"description":"<d>","n":1.50,"name":"a"},"resources":[{"uri":"skill://a/SKILL.md","digest":"` + emptyDigest +
		`","size":0},{"uri":"skill://a/b.md","digest":"` + emptyDigest + `","size":3}],"uri":"skill://a/SKILL.md"}`
	if string(a.Raw) != want || a.Name != "skill:skill://a/SKILL.md" {
		t.Errorf("%s: %s", a.Name, a.Raw)
	}
	if e := connectors.DecodeSkill(a.Raw); e.Bytes() != 3 || e.Description() != "<d>" || len(e.Files) != 2 {
		t.Errorf("entry %+v", e)
	}
}

func TestReadSkill_RefusesHostileEntries(t *testing.T) {
	t.Parallel()
	many := make([]string, connectors.MaxSkillFiles)
	for i := range many {
		many[i] = fmt.Sprintf("skill://a/%d.md", i)
	}
	good := skillEntry("skill://a/SKILL.md", "a", "skill://a/b.md")
	for entry, ok := range map[string]bool{
		good: true,
		skillEntry("github://o/r/skills/a/SKILL.md", "a", "github://o/r/skills/a/deep/er/b.md"):           true,
		skillEntry("skill://a/SKILL.md", "a", many[1:]...):                                                true,
		skillEntry("skill://a/SKILL.md", "a", many...):                                                    false,
		skillEntry("skill://a/SKILL.md", "b"):                                                             false,
		skillEntry("skill://A/SKILL.md", "A"):                                                             false,
		skillEntry("skill://a--b/SKILL.md", "a--b"):                                                       false,
		skillEntry("skill://a/skill.md", "a"):                                                             false,
		skillEntry("skill:///SKILL.md", ""):                                                               false,
		skillEntry("SKILL://a/SKILL.md", "a"):                                                             false,
		skillEntry("ui://a/SKILL.md", "a"):                                                                false,
		skillEntry("patchbay+one:skill://a/SKILL.md", "a"):                                                false,
		skillEntry("skill://b/../a/SKILL.md", "a"):                                                        false,
		skillEntry("skill://b/%2e%2e/a/SKILL.md", "a"):                                                    false,
		skillEntry("skill://b//a/SKILL.md", "a"):                                                          false,
		skillEntry("skill://b%2fa/SKILL.md", "b%2fa"):                                                     false,
		skillEntry("skill://a/SKILL.md", "a", "skill://a/b.md?x"):                                         false,
		skillEntry("skill://a/SKILL.md", "a", "skill://a/b\u200b.md"):                                     false,
		skillEntry("skill://a/SKILL.md", "a", `skill://a/b\c`):                                            false,
		skillEntry("skill://a/SKILL.md", "a", "skill://other/b.md"):                                       false,
		skillEntry("skill://a/SKILL.md", "a", "skill://ab/b.md"):                                          false,
		skillEntry("skill://a/SKILL.md", "a", "file:///etc/passwd"):                                       false,
		skillEntry("skill://a/SKILL.md", "a", "skill://a/"):                                               false,
		skillEntry("skill://a/SKILL.md", "a", "skill://a/SKILL.md"):                                       false,
		skillEntry("skill://a/SKILL.md", "a", "skill://a/b", "skill://a/b-c", "skill://a/b/c"):            false,
		skillEntry("skill://a/SKILL.md", "a", "skill://a/"+strings.Repeat("x", 1024)):                     false,
		strings.Replace(good, emptyDigest, strings.ToUpper(emptyDigest), 1):                               false,
		strings.Replace(good, emptyDigest, emptyDigest[:len(emptyDigest)-1]+"E", 1):                       false,
		strings.Replace(good, emptyDigest, strings.Replace(emptyDigest, "sha256", "sha512", 1), 1):        false,
		strings.Replace(good, emptyDigest, emptyDigest[:20], 1):                                           false,
		strings.Replace(good, `"size":1`, `"size":-1`, 1):                                                 false,
		strings.Replace(good, `"size":1`, `"size":16777217`, 1):                                           false,
		strings.Replace(good, `"size":0`, `"size":16777216`, 1):                                           false,
		strings.Replace(good, `,"size":1`, ``, 1):                                                         false,
		strings.Replace(good, `"uri":"skill://a/SKILL.md","digest"`, `"uri":"skill://a/x","digest"`, 1):   false,
		strings.Replace(good, `"description":"d"`, `"description":""`, 1):                                 false,
		strings.Replace(good, `"d"`, strings.Repeat("[", 40)+strings.Repeat("]", 40), 1):                  false,
		strings.Replace(good, `"d"`, `"`+strings.Repeat("d", 600<<10)+`"`, 1):                             false,
		`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"d"},"resources":"dynamic"}`: false,
		`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"d"}}`:                       false,
		`{"uri":7}`: false, `[]`: false, `null`: false, ``: false,
	} {
		if d, defect := connectors.ReadSkill(json.RawMessage(entry)); (defect == "") != ok {
			t.Errorf("%.300s: %q, %.100s", entry, defect, d.Raw)
		}
	}
}
