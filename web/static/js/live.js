// A page that renews itself: durations that count while a call runs or waits, and what is said when the page is renewed no more.
(() => {
  "use strict";

  const lasts = (ms) => {
    const s = ms / 1000;
    if (s < 60) return words.say("%s s", words.number(s, 1));
    if (s < 3600) return words.say("%s min %s s", Math.floor(s / 60), Math.floor(s % 60));
    return words.say("%s h %s min", Math.floor(s / 3600), Math.floor((s % 3600) / 60));
  };
  const tick = () => {
    const now = Date.now();
    for (const e of document.querySelectorAll("[data-since]")) {
      e.textContent = lasts(Math.max(0, now - Date.parse(e.dataset.since)));
    }
  };
  tick();
  setInterval(tick, 500);

  // The tab's title begins with the count of the bell: "(2) Agents · Patchbay".
  const bell = document.querySelector(".bell");
  if (bell) {
    const showCount = () => {
      const count = bell.querySelector(".tally")?.firstChild.textContent.trim();
      const title = document.title.replace(/^\(\d+\+?\) /, "");
      document.title = count ? `(${count}) ${title}` : title;
    };
    new MutationObserver(showCount).observe(bell, { subtree: true, childList: true, characterData: true });
  }

  // A hidden tab closes its stream, since browsers open few connections. It asks for the counts of the frame now and then.
  const readCounts = async () => {
    const answer = await fetch("/events?on=frame&once", { headers: { Accept: "text/event-stream" } });
    if (!answer.ok || answer.redirected) return;
    const event = (await answer.text()).replaceAll(/^data: /gm, "");
    for (const place of new DOMParser().parseFromString(event, "text/html").querySelectorAll(".badge-place")) {
      document.getElementById(place.id)?.replaceWith(place);
    }
  };
  if (bell) {
    setInterval(() => {
      if (document.hidden) readCounts().catch(() => {}); // the next one may be answered
    }, 15_000);
  }

  // A stream that ends is opened again by itself, which is worth a word where it takes longer than a moment.
  const line = document.getElementById("connection");
  if (!line) return;
  let soon;
  const say = (state) => {
    clearTimeout(soon);
    line.dataset.state = state;
    line.textContent = line.dataset[state] ?? "";
  };
  const on = (type, handle) => document.addEventListener(type, handle);
  on("htmx:sse:before:connection", (event) => {
    if (!event.detail.connection.attempt || line.dataset.state === "lost") return;
    clearTimeout(soon);
    soon = setTimeout(say, 2000, "lost");
  });
  on("htmx:sse:error", () => say("lost"));
  on("htmx:sse:after:connection", () => {
    const back = line.dataset.state === "lost";
    say(back ? "again" : "");
    if (back) soon = setTimeout(say, 4000, "");
  });
  for (const failure of ["htmx:response:error", "htmx:error"]) {
    on(failure, (event) => {
      if (event.target instanceof Element && event.target.hasAttribute("hx-sse:connect")) say("off");
    });
  }
})();
