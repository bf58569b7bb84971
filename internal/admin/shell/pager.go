package shell

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// Parameters of a list's page. A cursor only leads forward, so the address also has the way back.
const (
	cursorParam = "cursor"
	rowParam    = "row"  // number of rows before the page
	backParam   = "back" // cursor and row of each page between the first one and this one
)

// maxPagesBack bounds the way back. Beyond it, only the first page is linked.
const maxPagesBack = 25

// unknownStep stands for steps that were dropped.
const unknownStep = "-"

// FirstPage removes the position in a list from an address.
func FirstPage(query url.Values) url.Values {
	first := url.Values{}
	for name, values := range query {
		if name != cursorParam && name != rowParam && name != backParam {
			first[name] = values
		}
	}
	return first
}

// NewPager leads to the parts of a list before and after a page with some rows, keeping the query's other
// parameters, and to the list as a file.
func NewPager(r *http.Request, next string, rows int) templates.Pager {
	query := r.URL.Query()
	p := newPager(r.URL.Path, query, next, rows)
	p.CSV, p.JSON = exportLinks(r)
	if route := chi.RouteContext(r.Context()); route != nil && slices.Contains(resizablePages, route.RoutePattern()) {
		p.Sizes = sizeLinks(r.URL.Path, query, PageSize(r), next != "" || query.Get(cursorParam) != "")
	}
	return p
}

// FirstPager is the pager of a list's first page, which an event stream replaces.
func FirstPager(path string, filters url.Values, size int, next string, rows int) templates.Pager {
	p := newPager(path, filters, next, rows)
	p.Sizes = sizeLinks(path, filters, size, next != "")
	p.CSV, p.JSON = fileLinksFor(path, filters)
	return p
}

// WithTotal adds the number of rows of the whole list.
func WithTotal(p templates.Pager, total int) templates.Pager {
	p.Total = total
	return p
}

// WithBoundedTotal adds a number of rows that was counted up to one more than [store.MaxTotal].
func WithBoundedTotal(p templates.Pager, total int) templates.Pager {
	return WithLeastTotal(p, min(total, store.MaxTotal), total > store.MaxTotal)
}

// WithLeastTotal adds a number of rows that more follow if least is true. Beyond it the position alone is known.
func WithLeastTotal(p templates.Pager, total int, least bool) templates.Pager {
	if least && p.To >= total {
		return p
	}
	p.Total, p.Least = total, least
	return p
}

// ChooseAllPath is the address of a list with all of its rows selected, or of none if they are.
func ChooseAllPath(r *http.Request) string {
	query := r.URL.Query()
	if query.Get("choose") == "all" {
		query.Del("choose")
	} else {
		query.Set("choose", "all")
	}
	return WithQuery(r.URL.Path, query)
}

// TagOptions are the choices of a filter by tag; none if there is no tag.
func TagOptions(ctx context.Context, tags []string) []templates.Option {
	if len(tags) == 0 {
		return nil
	}
	options := []templates.Option{{Label: i18n.T(ctx, "Any tag")}}
	for _, tag := range tags {
		options = append(options, templates.Option{Value: tag, Label: tag})
	}
	return options
}

// ToRefs returns the values of a form as references.
func ToRefs(values []string) []connectors.Ref {
	refs := make([]connectors.Ref, len(values))
	for i, v := range values {
		refs[i] = connectors.Ref(v)
	}
	return refs
}

// ApprovalName is an approval mode in the person's language.
func ApprovalName(ctx context.Context, m connectors.ApprovalMode) string {
	for _, o := range ApprovalOptions(ctx) {
		if o.Value == string(m) {
			return o.Label
		}
	}
	return string(m)
}

// CountsSince is the beginning of the time in which lists count calls.
func (h *Shell) CountsSince() time.Time { return h.Now().Add(-day) }

// FormatCalls formats the calls of a row; "1,000+" if not all were counted.
func FormatCalls(ctx context.Context, c store.RecentCalls) string {
	if c.Calls >= store.MaxRecentCalls {
		return i18n.Number(ctx, c.Calls) + "+"
	}
	return i18n.Number(ctx, c.Calls)
}

// FormatFailed formats the share of failed calls; empty if none failed.
func FormatFailed(ctx context.Context, c store.RecentCalls) string {
	if c.Failed == 0 {
		return ""
	}
	return i18n.N(ctx, c.Failed, "%s error", "%s errors")
}

func newPager(path string, query url.Values, next string, rows int) templates.Pager {
	at := readPosition(query)
	p := templates.Pager{From: at.row + 1, To: at.row + rows}
	others := FirstPage(query)
	if at.cursor != "" {
		p.First = WithQuery(path, others)
		p.Previous = p.First
		if n := len(at.back); n > 0 {
			p.Previous = ""
			if previous, ok := parseStep(at.back[n-1]); ok {
				previous.back = at.back[:n-1]
				p.Previous = previous.toAddress(path, others)
			}
		}
		if p.Previous == p.First {
			p.First = ""
		}
	}
	if next != "" {
		following := position{cursor: next, row: at.row + rows, back: at.back}
		if at.cursor != "" {
			following.back = append(slices.Clone(at.back), at.cursor+"."+strconv.Itoa(at.row))
		}
		if n := len(following.back); n > maxPagesBack {
			following.back = append([]string{unknownStep}, following.back[n-maxPagesBack+1:]...)
		}
		p.Next = following.toAddress(path, others)
	}
	return p
}

// position is a page's place in a list.
type position struct {
	cursor string // empty: the first page
	row    int
	back   []string
}

func readPosition(query url.Values) position {
	at := position{cursor: query.Get(cursorParam)}
	if at.cursor == "" {
		return position{}
	}
	at.row, _ = strconv.Atoi(query.Get(rowParam)) // without a number, the position is not shown
	at.row = max(0, at.row)
	if text := query.Get(backParam); text != "" {
		at.back = strings.Split(text, "~")
	}
	return at
}

// parseStep parses a step of the way back. It fails for one that is unknown.
func parseStep(text string) (position, bool) {
	cursor, row, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(row)
	return position{cursor: cursor, row: n}, cursor != "" && err == nil && n > 0
}

func (at position) toAddress(path string, others url.Values) string {
	query := url.Values{cursorParam: {at.cursor}, rowParam: {strconv.Itoa(at.row)}}
	if len(at.back) > 0 {
		query.Set(backParam, strings.Join(at.back, "~"))
	}
	for name, values := range others {
		query[name] = values
	}
	return WithQuery(path, query)
}
