package templates

// NoticesPage lists notices. Its forms post to /notices/read: all, or the one with the id.
type NoticesPage struct {
	Frame  Frame
	Rows   []NoticeRow
	Unread bool // some are unread
	Pager  Pager
}

// NoticeRow is one notice.
type NoticeRow struct {
	ID     string
	State  State // its kind: "Needs authorization"
	Title  string
	Text   string
	Said   Quote  // what the server said
	Href   string // empty: no link
	When   When
	Times  string // "3 times"; empty: once
	Unread bool
}

// NoticeNews is an event of the list: new and repeated notices.
type NoticeNews struct {
	Come    []NoticeRow // newest last: each is put above the others
	Changed []NoticeRow
}

// maxUnread is the maximum of the unread count, shown as "or more".
const maxUnread = 100
