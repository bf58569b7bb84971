// Times are told in the viewer's zone: that of the browser, or the one chosen under Account. The server writes UTC, which stays in the
// datetime attribute and at the end of the title, so that a page without script is right, too.
(() => {
  "use strict";

  const choice = "zone";
  const stored = () => {
    try {
      return localStorage.getItem(choice) || undefined;
    } catch {
      return undefined; // storage is forbidden: the browser's zone
    }
  };
  const locale = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
  const formats = (timeZone) => ({
    day: new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone }),
    full: new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short", timeZone }),
  });
  let format;
  try {
    format = formats(stored());
  } catch {
    format = formats(); // a zone that this browser does not know
  }

  const sign = " · "; // between our words and the server's
  const date = /\d{1,2} [A-Z][a-z]{2} \d{4}/;
  const clock = /, \d{2}:\d{2}:\d{2} UTC/;
  const tell = (time) => {
    const at = new Date(time.dateTime);
    if (!time.title || time.title.includes(sign) || Number.isNaN(at.getTime())) return;
    const text = time.textContent;
    if (clock.test(text)) time.textContent = format.full.format(at);
    else if (date.test(text)) time.textContent = text.replace(date, format.day.format(at));
    time.title = format.full.format(at) + sign + time.title;
  };
  const within = (e) => {
    if (!(e instanceof Element)) return;
    if (e.matches("time[datetime]")) tell(e);
    else e.querySelectorAll("time[datetime]").forEach(tell);
  };
  within(document.body);
  new MutationObserver((changes) => {
    for (const c of changes) {
      if (c.type === "attributes") within(c.target);
      else c.addedNodes.forEach(within);
    }
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ["title"] });

  const select = document.querySelector("[data-zone]");
  if (!select) return;
  for (const name of Intl.supportedValuesOf?.("timeZone") ?? []) {
    if (name !== "UTC") select.add(new Option(name.replaceAll("_", " "), name));
  }
  select.options[0].text += " (" + new Intl.DateTimeFormat().resolvedOptions().timeZone + ")";
  select.value = stored() ?? "";
  select.addEventListener("change", () => {
    try {
      if (select.value) localStorage.setItem(choice, select.value);
      else localStorage.removeItem(choice);
    } catch {
      return; // storage is forbidden: nothing to remember it in
    }
    location.reload();
  });
})();
