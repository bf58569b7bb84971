// What Patchbay answered to what somebody did is gone with the next page. This tab keeps the last of it, to be read again behind the bell,
// until nobody is signed in any more.
(() => {
  "use strict";

  const place = "messages";
  const most = 20;
  const read = () => {
    try {
      return JSON.parse(sessionStorage.getItem(place)) ?? [];
    } catch {
      return []; // storage is forbidden, or was written by another version
    }
  };
  const write = (list) => {
    try {
      if (list.length) sessionStorage.setItem(place, JSON.stringify(list));
      else sessionStorage.removeItem(place);
    } catch {
      // storage is forbidden: nothing to remember it in
    }
  };
  if (!document.getElementById("person")) {
    write([]);
    return;
  }

  // "21 Nov 2026, 10:12:09 UTC", as the server writes times.
  const inUTC = (iso) => new Date(iso).toUTCString().replace(/^\w+, 0?(.*\d{4}) (.*) GMT$/, "$1, $2 UTC");
  const panel = document.getElementById("messages");
  const show = () => {
    if (!panel) return;
    const all = read();
    const row = panel.querySelector("template").content.firstElementChild;
    panel.querySelector("ul").replaceChildren(
      ...all.map((m) => {
        const item = row.cloneNode(true);
        item.dataset.kind = m.kind;
        item.querySelector("span").textContent = m.text;
        const time = item.querySelector("time");
        time.dateTime = m.at;
        time.title = time.textContent = inUTC(m.at); // times.js tells it in the viewer's zone
        return item;
      }),
    );
    panel.hidden = all.length === 0;
  };
  const keep = (p) => {
    const text = p.querySelector("span")?.textContent.trim().replaceAll(/\s+/g, " ");
    if (!text) return;
    write([{ text, kind: p.dataset.kind, at: new Date().toISOString() }, ...read()].slice(0, most));
    show();
  };
  for (const region of document.querySelectorAll("#notice, #alert")) {
    region.querySelectorAll("p").forEach(keep);
    new MutationObserver((changes) => {
      for (const c of changes) for (const n of c.addedNodes) if (n instanceof HTMLParagraphElement) keep(n);
    }).observe(region, { childList: true });
  }
  show();
})();
