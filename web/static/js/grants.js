// Choosing tools among many: narrowing the list, choosing what is shown of it, and counting. Without script the server does the same.
(() => {
  "use strict";

  const rows = (form) => [...form.querySelectorAll(".choices > li")];
  const box = (row) => row.querySelector("[name=tool]");
  const texts = new WeakMap(); // of a row, in lower case
  const said = (row) => {
    if (!texts.has(row)) {
      texts.set(row, [".tool-name", ".tool-line"].map((part) => row.querySelector(part).textContent).join(" ").toLowerCase());
    }
    return texts.get(row);
  };

  const count = (form) => {
    const place = form.querySelector("[data-grant-count]");
    const all = rows(form);
    if (!place || all.length === 0) return;
    const whole = form.querySelector("[name=all][value=true]").checked;
    const chosen = all.filter((row) => whole || box(row).checked);
    const tokens = chosen.reduce((sum, row) => sum + Number(row.dataset.tokens), 0);
    const how = whole ? words.say("all of them") : words.say("%s of %s selected", words.number(chosen.length), words.number(all.length));
    place.textContent = words.count(tokens, "%[2]s, about %[1]s tokens", how);
  };

  // The filter stands in the address, so that it can be kept and sent.
  const narrow = (form) => {
    const q = form.elements["q"].value.trim();
    const effect = form.elements["effect"].value;
    let shown = 0;
    for (const row of rows(form)) {
      row.hidden = !said(row).includes(q.toLowerCase()) || (effect !== "" && row.dataset.effect !== effect);
      if (!row.hidden) shown++;
    }
    form.querySelector("[data-grant-shown]").textContent = q || effect ? words.say("%s shown", words.number(shown)) : "";
    const at = new URL(location.href);
    for (const [name, value] of Object.entries({ q, effect })) {
      if (value) at.searchParams.set(name, value);
      else at.searchParams.delete(name);
    }
    history.replaceState(history.state, "", at.pathname.replace(/\/choose$/, "") + at.search);
  };

  const formOf = (event, selector) => {
    const at = event.target instanceof Element && event.target.closest(selector);
    return at && at.closest("[data-grant]");
  };
  for (const type of ["input", "change"]) {
    document.addEventListener(type, (event) => {
      const form = formOf(event, "[data-narrow]");
      if (form) narrow(form);
    });
  }
  // Enter in the filter, or on a box, sends nothing by mistake.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && formOf(event, "[data-grant] input")) event.preventDefault();
  });
  document.addEventListener("change", (event) => {
    const form = formOf(event, "[data-grant] *");
    if (form) count(form);
  });
  document.addEventListener("click", (event) => {
    const form = formOf(event, "[data-choose]");
    if (!form) return;
    event.preventDefault();
    const checked = event.target.closest("[data-choose]").dataset.choose === "choose";
    for (const row of rows(form)) {
      if (!row.hidden) box(row).checked = checked;
    }
    count(form);
  });
  document.querySelectorAll("[data-grant]").forEach(count);
})();
