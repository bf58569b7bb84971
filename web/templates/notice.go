package templates

// NoticesPage lists what needs attention, and below it what happened.
type NoticesPage struct {
	Frame Frame
	Needs Needs
	Rows  []NoticeRow
	Pager Pager
}

// NoticeRow is one notice.
type NoticeRow struct {
	ID    string
	State State // its kind: "Needs authorization"
	Title string
	Text  string
	Said  Quote  // what the server said
	Href  string // empty: no link
	When  When
	Times string // "3 times"; empty: once
}

// NoticeNews is an event of the list: new and repeated notices.
type NoticeNews struct {
	Come    []NoticeRow // newest last: each is put above the others
	Changed []NoticeRow
}
