package templates

// NoticesPage lists what people should know. Its forms post to /notices/read: all, or the one with the id.
type NoticesPage struct {
	Frame  Frame
	Rows   []NoticeRow
	Unread bool // there is something to mark as read
	Pager  Pager
}

// NoticeRow is one notice.
type NoticeRow struct {
	ID     string
	State  State // what kind of thing it is: "Needs authorization"
	Title  string
	Text   string
	Href   string // empty: it leads nowhere
	When   When
	Times  string // "3 times"; empty: once
	Unread bool
}

// NoticeNews is what has happened to a list that is shown: what has come, and what is told anew.
type NoticeNews struct {
	Come    []NoticeRow // the newest last: each is put above the others
	Changed []NoticeRow
}

// unreadEnd is where the count of what is unread ends; from there on it says that there are more.
const unreadEnd = 100
