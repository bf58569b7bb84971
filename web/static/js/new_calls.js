// The list of calls follows live. While it is read, new calls wait behind a button, so that no row moves under the reader.
(() => {
  "use strict";

  const button = document.getElementById("new-calls");
  if (!button) return;
  const list = () => document.getElementById("calls");
  const isRead = () => {
    const selection = getSelection();
    return (
      list().getBoundingClientRect().top < 0 ||
      list().matches(":has(tbody:hover, tbody :focus)") ||
      document.getElementById("peek")?.hidden === false ||
      (!selection.isCollapsed && list().contains(selection.anchorNode))
    );
  };

  document.addEventListener("htmx:sse:before:message", (event) => {
    const { message } = event.detail;
    if (message.event || !message.data.includes('hx-target="#calls"')) return;
    const rows = [...new DOMParser().parseFromString(message.data, "text/html").querySelectorAll("tr[id^='call-']")];
    const added = rows.filter((row) => !document.getElementById(row.id)).length;
    button.hidden = !added || !isRead();
    if (button.hidden) return;
    event.preventDefault();
    button.textContent = words.count(added, "%s new calls");
  });
  button.addEventListener("click", async () => {
    await htmx.ajax("GET", location.href, { target: "#calls", select: "#calls", swap: "outerMorph" });
    button.hidden = true;
    list().scrollIntoView({ block: "nearest" });
  });
})();
