// A call beside its list: a click on a row shows it, and moving along the rows follows. Without script, or on a narrow page, the link leads
// to the call's page.
(() => {
  "use strict";

  const panel = document.getElementById("peek");
  if (!panel) return;
  const body = panel.querySelector("[data-peek-body]");
  const wide = matchMedia("(min-width: 64rem)");
  const rowOf = (at) => (at instanceof Element ? at.closest("#calls .cover") : null);
  let request;

  const mark = (link) => {
    for (const other of document.querySelectorAll("#calls tr[data-peeked]")) delete other.dataset.peeked;
    if (link) link.closest("tr").dataset.peeked = "";
  };
  const load = async (link) => {
    request?.abort();
    request = new AbortController();
    mark(link);
    panel.querySelector("[data-peek-open]").href = link.href;
    try {
      const reply = await fetch(link.href, { signal: request.signal });
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      const detail = page.querySelector("[id^='call-detail-']");
      if (!reply.ok || !detail) return location.assign(link.href);
      body.replaceChildren(document.adoptNode(detail));
      window.htmx?.process(body);
      panel.hidden = false;
      panel.scrollTop = 0;
    } catch (error) {
      if (error.name !== "AbortError") location.assign(link.href);
    }
  };
  const close = () => {
    request?.abort();
    panel.hidden = true;
    document.querySelector("#calls tr[data-peeked] .cover")?.focus();
    mark(null);
  };

  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("[data-peek-close]")) close();
    const link = rowOf(event.target);
    if (!link || !wide.matches || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    load(link);
  });
  document.addEventListener("focusin", (event) => {
    const link = rowOf(event.target);
    if (link && !panel.hidden && !("peeked" in link.closest("tr").dataset)) load(link);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !panel.hidden && !event.defaultPrevented) close();
  });
})();
