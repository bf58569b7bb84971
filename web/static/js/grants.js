// Choosing tools among many: narrowing the list, choosing several at once, and counting.
(() => {
  "use strict";

  const rows = (form) => [...form.querySelectorAll(".choices > li")];
  const box = (row) => row.querySelector("[name=tool]");

  const count = (form) => {
    const said = form.querySelector("[data-grant-count]");
    const all = rows(form);
    if (!said || all.length === 0) return;
    const whole = form.querySelector("[name=all][value=true]").checked;
    const chosen = all.filter((row) => box(row).checked).length;
    said.textContent = whole ? "all of them" : `${chosen} of ${all.length} chosen`;
  };

  document.addEventListener("input", (event) => {
    const at = event.target;
    if (!(at instanceof HTMLInputElement) || !at.dataset.narrow) return;
    const words = at.value.trim().toLowerCase();
    for (const row of document.querySelectorAll(at.dataset.narrow + " > li")) {
      row.hidden = !row.textContent.toLowerCase().includes(words);
    }
  });
  // Enter in the filter saves nothing by mistake.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement && event.target.dataset.narrow) event.preventDefault();
  });
  document.addEventListener("change", (event) => {
    const form = event.target instanceof Element && event.target.closest("[data-grant]");
    if (form) count(form);
  });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-choose]");
    if (!button) return;
    const form = button.closest("[data-grant]");
    for (const row of rows(form)) {
      if (row.hidden) continue;
      const how = button.dataset.choose;
      box(row).checked = how === "all" || (how === "read-only" && "readOnly" in row.dataset);
    }
    count(form);
  });
  document.querySelectorAll("[data-grant]").forEach(count);
})();
