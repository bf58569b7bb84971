package main

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// browser keeps cookies and follows redirects.
type browser struct{ client *http.Client }

func newBrowser() (browser, error) {
	jar, err := cookiejar.New(nil)
	return browser{&http.Client{Jar: jar}}, err
}

// page is where a browser ended up.
type page struct {
	url    *url.URL
	status int
	form   *form // the first POST form, where there is one
	text   string
}

// form is what a press of its button sends.
type form struct {
	action *url.URL
	fields url.Values
}

// open gets a page.
func (b browser) open(ctx context.Context, address string) (page, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return page{}, err
	}
	return b.do(req)
}

// press sends the page's form, as its button would.
func (b browser) press(ctx context.Context, on page) (page, error) {
	body := strings.NewReader(on.form.fields.Encode())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, on.form.action.String(), body)
	if err != nil {
		return page{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", on.url.Scheme+"://"+on.url.Host)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.do(req)
}

func (b browser) do(req *http.Request) (page, error) {
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	res, err := b.client.Do(req)
	if err != nil {
		return page{}, err
	}
	defer res.Body.Close()
	document, err := html.Parse(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return page{}, err
	}
	at := page{url: res.Request.URL, status: res.StatusCode}
	at.read(document)
	at.text = strings.Join(strings.Fields(at.text), " ")
	return at, nil
}

// read takes in the first POST form, and the text of the main part.
func (p *page) read(document *html.Node) {
	for n := range document.Descendants() {
		switch {
		case n.Type == html.ElementNode && n.Data == "form" && p.form == nil && strings.EqualFold(attr(n, "method"), "post"):
			p.form = p.readForm(n)
		case n.Type == html.TextNode && within(n, "main"):
			p.text += " " + n.Data
		}
	}
}

func (p *page) readForm(n *html.Node) *form {
	f := &form{action: p.url, fields: url.Values{}}
	if action, err := p.url.Parse(attr(n, "action")); err == nil {
		f.action = action
	}
	for field := range n.Descendants() {
		if field.Type == html.ElementNode && field.Data == "input" && attr(field, "name") != "" {
			f.fields.Add(attr(field, "name"), attr(field, "value"))
		}
	}
	return f
}

func within(n *html.Node, element string) bool {
	for above := range n.Ancestors() {
		if above.Type == html.ElementNode && above.Data == element {
			return true
		}
	}
	return false
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
