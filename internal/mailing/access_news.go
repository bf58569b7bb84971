package mailing

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// maxRequests bounds the requests for access that are read.
const maxRequests = 100

// requestNews are the pages of the requests for access that a member is told of.
type requestNews struct {
	toDecide map[string]bool // open ones, for those that decide
	own      map[string]bool
}

func readRequestNews(ctx context.Context, tx *store.Tenant, user connectors.UserID, role connectors.Role) (news requestNews, err error) {
	read := func(f store.AccessRequestFilter) (map[string]bool, error) {
		f.Page = store.Page{Limit: maxRequests}
		list, err := tx.AccessRequests().List(ctx, f)
		pages := map[string]bool{}
		for _, r := range list.Items {
			pages[connectors.AccessRequestPath(r.ID)] = true
		}
		return pages, err
	}
	if role.May(connectors.PermManage) {
		if news.toDecide, err = read(store.AccessRequestFilter{State: connectors.RequestOpen}); err != nil {
			return news, err
		}
	}
	news.own, err = read(store.AccessRequestFilter{Asker: &user.UUID})
	return news, err
}

// concernsMember reports whether a notice concerns the member. Notices of other kinds do.
func (r requestNews) concernsMember(n connectors.Notice) bool {
	switch n.Kind {
	case connectors.NoticeAccessRequest:
		return r.toDecide[n.Link]
	case connectors.NoticeAccessDecision:
		return r.own[n.Link]
	}
	return true
}
