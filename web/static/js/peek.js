// A call beside its list: a click on a row shows it, and moving along the rows follows. Without script, or on a narrow page, the link leads
// to the call's page.
(() => {
  "use strict";

  const panel = document.getElementById("peek");
  if (!panel) return;
  const body = panel.querySelector("[data-peek-body]");
  const wide = matchMedia("(min-width: 64rem)");
  const rowOf = (at) => (at instanceof Element ? at.closest("#calls .cover") : null);
  const stateOf = (link) => link.closest("tr").cells[1];
  const stateWord = (cell) => cell.querySelector(".state")?.textContent.trim();
  let request;
  let shown; // the link and the state of the call in the panel

  const mark = (link) => {
    for (const other of document.querySelectorAll("#calls tr[data-peeked]")) delete other.dataset.peeked;
    if (link) link.closest("tr").dataset.peeked = "";
  };
  const load = async (link, again = "") => {
    request?.abort();
    request = new AbortController();
    if (!again) mark(link);
    shown = { link, state: again || stateWord(stateOf(link)) };
    panel.querySelector("[data-peek-open]").href = link.href;
    try {
      const reply = await fetch(link.href, { signal: request.signal });
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      const detail = page.querySelector("[id^='call-detail-']");
      if (!reply.ok || !detail) return again || location.assign(link.href);
      body.replaceChildren(document.adoptNode(detail));
      window.htmx?.process(body);
      panel.hidden = false;
      if (!again) panel.scrollTop = 0;
    } catch (error) {
      if (error.name !== "AbortError" && !again) location.assign(link.href);
    }
  };

  // The panel follows the list's events, also while the list itself waits. A call is read again when its state changes; its progress is
  // in the list.
  const follow = (link) => {
    const cell = stateOf(link);
    if (stateWord(cell) !== shown.state) return load(shown.link, stateWord(cell));
    if (!cell.querySelector("[data-state=busy]")) return;
    const [words, bar] = [cell.querySelector("span.reason"), cell.querySelector("progress")];
    const [said, drawn] = [body.querySelector(".call-progress"), body.querySelector("progress.how-far")];
    if ((words && !said) || (bar && !drawn)) return load(shown.link, stateWord(cell));
    if (words && said.textContent !== words.textContent) said.textContent = words.textContent;
    if (bar) drawn.value = bar.value;
  };
  document.addEventListener("htmx:sse:before:message", (event) => {
    const { message } = event.detail;
    if (panel.hidden || !shown || message.event || !message.data.includes('hx-target="#calls"')) return;
    const page = new DOMParser().parseFromString(message.data, "text/html");
    const link = [...page.querySelectorAll(".cover")].find((one) => one.getAttribute("href") === shown.link.getAttribute("href"));
    if (link) follow(link);
  });

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
