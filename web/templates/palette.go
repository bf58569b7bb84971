package templates

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"patchbay/internal/i18n"
)

// SearchResult is an entry of the palette and the search page: a link, a form to post, or a script's action.
type SearchResult struct {
	Icon   string
	Mark   *Mark // of a connector, instead of Icon; nil: none
	Text   string
	About  string // what it belongs to: "Linear"; empty: nothing
	Href   string // a page
	Action string // a form's address
	Name   string // of the form's one field; empty: it has none
	Value  string
	More   bool   // it leads to the rest of its kind
	Script string // a script's action, "theme" or "keys"; omitted without script
}

// SearchGroup are the entries of one kind.
type SearchGroup struct {
	ID    string
	Title string
	List  []SearchResult
}

// pageWays are the pages that the person may open.
func (f Frame) pageWays(ctx context.Context) SearchGroup {
	var list []SearchResult
	for _, s := range shortcutPages(ctx, f.Can) {
		list = append(list, SearchResult{Icon: pageIcons[s.Href], Text: s.Text, Href: s.Href})
	}
	list = append(list, SearchResult{Icon: "circle-user", Text: i18n.T(ctx, "Account"), Href: "/account"})
	return SearchGroup{ID: "pages", Title: i18n.T(ctx, "Pages"), List: list}
}

var pageIcons = map[string]string{
	"/": "house", "/connectors": "plug", "/tools": "wrench", "/agents": "bot", "/calls": "activity", "/tasks": "hourglass", "/approvals": "stamp",
	"/changes": "git-compare", "/catalog": "plus", "/notices": "bell", "/webhooks": "webhook", "/registries": "link", "/audit": "scroll-text", "/members": "users",
	"/api-keys": "key-round", "/settings": "settings",
}

// actionWays are the actions that the person may take from any page.
func (f Frame) actionWays(ctx context.Context) SearchGroup {
	var list []SearchResult
	if f.Can.Sync {
		list = append(list, SearchResult{Icon: "refresh-cw", Text: i18n.T(ctx, "Sync all connectors"), Action: "/sync_tools"})
	}
	if f.Can.Manage {
		list = append(list,
			SearchResult{Icon: "plus", Text: i18n.T(ctx, "Add connector"), Href: "/connectors/new"},
			SearchResult{Icon: "plus", Text: i18n.T(ctx, "Import connectors"), Href: "/connectors/import"},
			SearchResult{Icon: "plus", Text: i18n.T(ctx, "Add agent"), Href: "/agents/new"},
			SearchResult{Icon: "plus", Text: i18n.T(ctx, "Add webhook"), Href: "/webhooks/new"},
			SearchResult{Icon: "plus", Text: i18n.T(ctx, "Publish registry"), Href: "/registries/new"})
	}
	if f.Can.Own {
		list = append(list,
			SearchResult{Icon: "plus", Text: i18n.T(ctx, "New API key"), Href: "/api-keys#add"},
			SearchResult{Icon: "plus", Text: i18n.T(ctx, "Invite someone"), Href: "/members#invite"})
	}
	for _, t := range f.Tenants {
		if t.Slug != f.Tenant.Slug {
			list = append(list, SearchResult{Icon: "chevrons-up-down", Text: i18n.T(ctx, "Switch to %s", t.Name), Action: "/tenant", Name: "tenant", Value: t.Slug})
		}
	}
	list = append(list,
		SearchResult{Icon: "sun", Text: i18n.T(ctx, "Toggle light and dark"), Script: "theme"},
		SearchResult{Icon: "info", Text: i18n.T(ctx, "Keyboard shortcuts"), Script: "keys"},
		SearchResult{Icon: "log-out", Text: i18n.T(ctx, "Sign out"), Action: "/logout"})
	return SearchGroup{ID: "actions", Title: i18n.T(ctx, "Actions"), List: list}
}

// Matching returns the palette's entries without script that contain all words of q, by kind. Empty kinds are
// left out.
func (f Frame) Matching(ctx context.Context, q string) []SearchGroup {
	terms := strings.Fields(strings.ToLower(q))
	var kinds []SearchGroup
	for _, w := range []SearchGroup{f.pageWays(ctx), f.actionWays(ctx)} {
		w.List = slices.DeleteFunc(w.List, func(way SearchResult) bool {
			text := strings.ToLower(way.Text)
			return way.Script != "" || slices.ContainsFunc(terms, func(word string) bool { return !strings.Contains(text, word) })
		})
		if len(w.List) > 0 {
			kinds = append(kinds, w)
		}
	}
	return kinds
}

// SearchPage is the search without script.
type SearchPage struct {
	Frame Frame
	Query string
	Found []SearchGroup // the kinds with results
	Count string
}

func (w SearchGroup) optionID(i int) string { return "option-" + w.ID + "-" + strconv.Itoa(i) }

// toolsMentioning is the search in the tools' descriptions.
func toolsMentioning(q string) templ.SafeURL {
	return templ.SafeURL("/tools?" + url.Values{"q": {q}}.Encode())
}
