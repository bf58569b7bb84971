package calls

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// Chart is a chart of calls, with the number of calls that it counts.
type Chart struct {
	View    *templates.CallChart // nil: there are no calls
	counted store.CallParts
}

// AddTotal adds the number of calls to the pager of their list.
func (c Chart) AddTotal(p templates.Pager) templates.Pager {
	switch n := c.counted.Total; {
	case p.To < p.From:
		return p
	case c.counted.Cut:
		return shell.WithLeastTotal(p, n, true)
	case c.counted.Exact:
		return shell.WithTotal(p, n)
	case n > p.To: // calls that have not ended are not among it
		p.Total, p.Roughly = n, true
	}
	return p
}

// chartPlace is the page of a chart.
type chartPlace struct {
	path string
	CallQuery
	timeSpan
}

func readChart(ctx context.Context, tx *store.Tenant, f store.CallFilter, at chartPlace) (Chart, error) {
	counted, err := tx.Lists().CallParts(ctx, f, at.parts)
	if err != nil {
		return Chart{}, err
	}
	return Chart{newCallChart(ctx, at.path, at.CallQuery, at.timeSpan, counted), counted}, nil
}

// Chart counts the calls of a list of all connectors up to now.
func (h *Handler) Chart(ctx context.Context, tenant *store.Tenant, q CallQuery) (Chart, error) {
	filter, err := h.CallFilter(ctx, tenant, q, nil, nil)
	if err != nil || filter.Limit < 0 {
		return Chart{}, err
	}
	span, _ := q.timeSpan(h.Now()) // the page reports a wrong range
	return readChart(ctx, tenant, filter, chartPlace{"/calls", q, span})
}

// newCallChart draws a bar for each part of the range, by outcome. Each bar leads to the calls of its part.
func newCallChart(ctx context.Context, path string, q CallQuery, s timeSpan, counted store.CallParts) *templates.CallChart {
	if counted.Total == 0 {
		return nil
	}
	highest, failed := 0, 0
	for _, p := range counted.Parts {
		highest, failed = max(highest, p.OK+p.Failed+p.Other), failed+p.Failed
	}
	c := &templates.CallChart{
		ViewBox: fmt.Sprintf("0 0 %d %d", s.parts*shell.BarStep-1, shell.BarHeight),
		From:    formatRangeTime(ctx, s.from), To: formatRangeTime(ctx, s.to),
		Said: i18n.T(ctx, "%s, %s", i18n.N(ctx, counted.Total, "%s call", "%s calls"), i18n.N(ctx, failed, "%s error", "%s errors")),
	}
	if counted.Cut {
		c.Said = i18n.T(ctx, "%s, %s among the newest %s", i18n.N(ctx, counted.Total, "%s call", "%s calls"), i18n.N(ctx, failed, "%s error", "%s errors"), i18n.Number(ctx, store.MaxCountedCalls))
	}
	for i, p := range counted.Parts {
		c.Bars = append(c.Bars, callBar(ctx, callPart{CallPart: p, index: i, highest: highest}, partLink(path, q, s, i)))
	}
	return c
}

// callPart is one bar's counts.
type callPart struct {
	store.CallPart
	index, highest int
}

func callBar(ctx context.Context, p callPart, link partOfRange) templates.CallBar {
	b := templates.CallBar{
		Href: link.href, X: strconv.Itoa(p.index * shell.BarStep), Width: strconv.Itoa(shell.BarStep), Height: strconv.Itoa(shell.BarHeight),
		Label: i18n.T(ctx, "%s: %s, %s", formatRangeTime(ctx, link.from), i18n.N(ctx, p.OK+p.Failed+p.Other, "%s call", "%s calls"), i18n.N(ctx, p.Failed, "%s error", "%s errors")),
	}
	y := float64(shell.BarHeight)
	for _, part := range []struct {
		kind  templates.BarKind
		calls int
	}{{templates.BarOK, p.OK}, {templates.BarOther, p.Other}, {templates.BarBad, p.Failed}} {
		if part.calls == 0 {
			continue
		}
		height := max(1, float64(part.calls)/float64(p.highest)*(shell.BarHeight-3))
		y -= height
		b.Bars = append(b.Bars, templates.Bar{
			Kind: part.kind, X: b.X, Y: shell.FormatCoordinate(y), Width: strconv.Itoa(shell.BarWidth), Height: shell.FormatCoordinate(height),
		})
	}
	return b
}

// partOfRange is the address of the calls of a part, and its beginning.
type partOfRange struct {
	href string
	from time.Time
}

func partLink(path string, q CallQuery, s timeSpan, i int) partOfRange {
	from := s.from.Add(s.partLength() * time.Duration(i))
	values := q.URLValues()
	values.Set("range", customRange)
	values.Set("from", from.Format(inputTime+":05"))
	values.Set("to", from.Add(s.partLength()).Format(inputTime+":05"))
	if path != "/calls" {
		values = withoutConnector(values)
	}
	return partOfRange{shell.WithQuery(path, values), from}
}

func withoutConnector(values url.Values) url.Values {
	values.Del("connector")
	return values
}

func formatRangeTime(ctx context.Context, t time.Time) string {
	return t.UTC().Format(i18n.T(ctx, "2 Jan, 15:04 UTC"))
}
