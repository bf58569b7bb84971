package agents

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// Rows and columns of a page of the matrix.
const (
	matrixAgents     = 50
	matrixConnectors = 20
)

// accessMatrix shows which agent may use which connector.
func (h *Handler) accessMatrix(w http.ResponseWriter, r *http.Request) error {
	ctx, query := r.Context(), r.URL.Query()
	agents := store.AccessFilter{Query: strings.TrimSpace(query.Get("agent")), Window: store.Window{Skip: readSkip(query, "agents"), Limit: matrixAgents}}
	targets := store.AccessFilter{
		Query: strings.TrimSpace(query.Get("connector")), Tag: query.Get("tag"), Window: store.Window{Skip: readSkip(query, "connectors"), Limit: matrixConnectors},
	}
	var m store.AccessMatrix
	var tags []string
	err := h.TenantStore(r).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if tags, err = tx.Lists().ConnectorTags(ctx); err != nil {
			return err
		}
		m, err = tx.Lists().Matrix(ctx, agents, targets)
		return err
	})
	if err != nil {
		return err
	}
	page := templates.AccessMatrixPage{
		Frame:          h.NewFrame(r, templates.NavAgents, shell.NewCrumb(i18n.T(ctx, "Agents"), "/agents"), shell.NewCrumb(i18n.T(ctx, "Access matrix"), "")),
		Filter:         templates.Form{Values: map[string]string{"agent": agents.Query, "connector": targets.Query, "tag": targets.Tag}},
		Tags:           shell.TagOptions(ctx, tags),
		Filtered:       agents.Query != "" || targets.Query != "" || targets.Tag != "",
		AgentPager:     matrixPager(r, "agents", agents.Window, len(m.Agents), m.AllAgents),
		ConnectorPager: matrixPager(r, "connectors", targets.Window, len(m.Connectors), m.AllConnectors),
	}
	for _, c := range m.Connectors {
		page.Columns = append(page.Columns, templates.MatrixColumn{Name: c.Name, Href: shell.ConnectorPath(c.Slug) + "/access"})
	}
	for _, a := range m.Agents {
		row := templates.MatrixRow{Name: a.Name, Href: shell.AgentPath(a.Slug) + "/access"}
		for _, c := range m.Connectors {
			cell := matrixCell(ctx, m.Reach(a.ID, c.ID), c.ToolCount, h.Now())
			cell.Href, cell.Label = grantPath(a.Slug, c.Slug), a.Name+", "+c.Name+": "+cell.Label
			row.Cells = append(row.Cells, cell)
		}
		page.Rows = append(page.Rows, row)
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.AccessMatrix(page))
}

func readSkip(query url.Values, name string) int {
	skip, _ := strconv.Atoi(query.Get(name)) // an invalid number is the beginning
	return max(0, min(skip, 1_000_000))
}

func matrixCell(ctx context.Context, reach store.Reach, available int, now time.Time) templates.MatrixCell {
	switch {
	case !reach.Granted:
		return templates.MatrixCell{Kind: templates.MatrixNone, Text: "–", Label: i18n.T(ctx, "No access")}
	case reach.Ended:
		return templates.MatrixCell{Kind: templates.MatrixNone, Text: i18n.T(ctx, "Ended"), Label: reachText(ctx, reach, available, now)}
	case reach.AllTools && reach.Until == nil:
		return templates.MatrixCell{Kind: templates.MatrixAll, Text: i18n.T(ctx, "All"), Label: i18n.T(ctx, "All tools")}
	case reach.AllTools:
		return templates.MatrixCell{Kind: templates.MatrixAll, Text: i18n.T(ctx, "All"), Label: reachText(ctx, reach, -1, now)}
	}
	return templates.MatrixCell{Kind: templates.MatrixSome, Text: i18n.Number(ctx, reach.Tools), Label: reachText(ctx, reach, available, now)}
}

// matrixPager leads along one side of the matrix.
func matrixPager(r *http.Request, side string, at store.Window, rows, total int) templates.Pager {
	link := func(skip int) string {
		query := r.URL.Query()
		if query.Del(side); skip > 0 {
			query.Set(side, strconv.Itoa(skip))
		}
		return shell.WithQuery(r.URL.Path, query)
	}
	p := templates.Pager{From: at.Skip + 1, To: at.Skip + rows, Total: total}
	if at.Skip > 0 {
		p.Previous = link(max(0, at.Skip-at.Limit))
	}
	if p.To < total {
		p.Next = link(at.Skip + at.Limit)
	}
	return p
}
