package admin_test

import (
	"net/http"
	"net/url"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/testing/htmlcheck"
)

func TestSkillChange_IsShownAndDecided(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t, func(c *connectors.Draft) { c.Name, c.Slug = "Acme", "acme" })
	d.Synced(t, c.ID, "search")
	first := d.SkillIn(t, d.Tenant, c.ID, true)
	now := d.SkillIn(t, d.Tenant, c.ID, false, "more.md")
	b := d.signInAsRole(connectors.RoleAdmin)
	path := "/connectors/acme/tools/" + url.PathEscape(connectors.SkillTool(fixture.SkillURI))
	p := b.get("/changes")
	p.want(t, http.StatusOK, "1 change", "Skill "+fixture.SkillURI, "High risk", "changed files")
	p = b.get("/connectors/acme/resources")
	p.want(t, http.StatusOK, "1 skill", fixture.SkillURI, "Refund a customer", "more.md", "changed, waits for review")
	htmlcheck.Parse(t, p.Body).Sound(t)
	p = b.get(path + "/changes")
	p.want(t, http.StatusOK, "A file was added to the skill.", "skill://acme/refunds/more.md", "Open skills", "Agents get files only as accepted.")
	htmlcheck.Parse(t, p.Body).Sound(t)

	b.submit(path+"/accept", url.Values{"hash": {first.Hash.String()}}).want(t, http.StatusOK, "The skill changed again. Review the latest version.")
	form := url.Values{"hash": {now.Hash.String()}}
	b.submit(path+"/reject", form).want(t, http.StatusOK, "Rejected: Skill "+fixture.SkillURI+" of Acme. Agents keep the accepted version.")
	form.Set("sure", "yes")
	b.submit(path+"/accept", form).want(t, http.StatusOK, "Accepted: Skill "+fixture.SkillURI+" of Acme. Agents now get the new version.")
	b.get("/audit?action=skill.accept").want(t, http.StatusOK, "acme")
	p = b.get(path + "/changes")
	p.want(t, http.StatusOK, "Agents get this skill.")
	htmlcheck.Parse(t, p.Body).Sound(t)
	b.submit(path+"/withdraw", url.Values{"hash": {now.Hash.String()}}).want(t, http.StatusUnprocessableEntity, "Withdraw Skill "+fixture.SkillURI+"?", "Agents can no longer read its files.")
	b.submit(path+"/withdraw", form).want(t, http.StatusOK, "Withdrawn: Skill "+fixture.SkillURI+" of Acme. Agents no longer get it.", "Undo")
	if p := b.get(path + "/changes"); p.says("Agents get this skill.") || !p.says("Accept") {
		t.Errorf("after the withdrawal: %s", p.Body)
	}
	b.submit(path+"/withdraw", form).want(t, http.StatusOK, "The skill is already rejected.")
	b.submit(path+"/accept", form).want(t, http.StatusOK, "Accepted: Skill")
	b.submit("/connectors/acme/tools/search/withdraw", form).want(t, http.StatusNotFound)
	if d.signInAsRole(connectors.RoleViewer).get(path + "/changes").says("Accept<") {
		t.Error("a viewer decides nothing")
	}
}

func TestAgentPage_SaysSkillsOverItsLimit(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	c := d.Connector(t, func(c *connectors.Draft) { c.Name, c.Slug = "Acme", "acme" })
	d.Synced(t, c.ID, "search")
	d.Grant(t, a.ID, c.ID)
	d.SkillIn(t, d.Tenant, c.ID, true)
	d.AsSystem(t, `update skills set accepted_hash = current_hash, review = 'accepted'`, nil)
	b := d.signInAsRole(connectors.RoleViewer)
	if p := b.get("/agents/support"); p.says("served") {
		t.Error("one skill is over the limit")
	}
	d.AsSystem(t, `insert into skills (tenant_id, connector_id, uri, current_hash, accepted_hash, review)
		select tenant_id, connector_id, 'github://acme/' || n || '/SKILL.md', current_hash, accepted_hash, review from skills, generate_series(1, 1001) n`, nil)
	b.get("/agents/support").want(t, http.StatusOK, "2 skills aren't served", "An agent gets at most 1,000 skills of 8.0 MiB in all.")
}
