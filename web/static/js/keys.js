// Keys that go places and do things: the dialog under ? lists them, and its links are where g and a letter lead. A key of one character does nothing while
// somebody types, while a dialog or a menu is open, together with another key, and where the person has turned them off (WCAG 2.1.4).
(() => {
  "use strict";

  const dialog = document.getElementById("shortcuts");
  if (!dialog) return;
  const patience = 1500; // milliseconds between g and what follows
  const off = "keys-off";
  const stored = () => {
    try {
      return localStorage.getItem(off) !== null;
    } catch {
      return false; // storage is forbidden: the keys work
    }
  };

  const typing = (at) => at instanceof Element && at.closest("input, textarea, select, [contenteditable], [role=textbox], [role=combobox]");
  const covered = () => document.querySelector("dialog[open], [popover]:popover-open:not(#sidebar)") !== null;

  const rows = () => [...document.querySelectorAll("main .cover, main summary, main .approval h2 a, main .change-name a:not(.quiet)")].filter((e) => e.checkVisibility());
  const step = (by) => {
    const all = rows();
    if (!all.length) return false;
    const at = all.indexOf(document.activeElement);
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
    return true;
  };
  // What a key does is the first such element of the focused row, or else of the page. layout.css shows the keys at them.
  const acts = {
    c: ':is(.title .actions a, a.btn):is([href$="/new"], [href="#add"], [href="#invite"]):not([data-variant])',
    e: 'nav a[href$="/settings"], [href="#settings"]',
    a: 'form[action$="/approve"] button:not([type=button], [name])',
    d: 'form[action$="/deny"] button:not([type=button], [name])',
  };
  const act = (key) => {
    const row = document.activeElement?.closest("main :is(tr, li)");
    const lists = document.querySelectorAll("main " + acts[key].replaceAll(", ", ", main "));
    const found = [...(row?.querySelectorAll(acts[key]) ?? []), ...lists].filter((e) => e.checkVisibility() && !e.disabled);
    // One of several equal deeds is meant only by its row.
    if (!found.length || (!row && found.length > 1 && "ad".includes(key))) return false;
    found[0].click();
    return true;
  };
  const tick = () => {
    const box = document.activeElement?.closest("main :is(tr, li)")?.querySelector("input[type=checkbox]:not(:disabled)");
    box?.click();
    return Boolean(box);
  };
  const search = () => {
    const field = document.querySelector("main form[role=search] input:not([type=hidden])");
    if (field) {
      field.focus();
      field.select?.();
    } else document.querySelector("[data-palette-open]")?.click();
    return true;
  };
  const show = () => {
    document.getElementById("person")?.hidePopover?.();
    dialog.showModal();
    return true;
  };

  let waiting = 0;
  const go = (key) => {
    const link = dialog.querySelector(`[data-go="${CSS.escape(key)}"]`);
    if (link) location.assign(link.href);
    return link !== null;
  };
  const keys = {
    "?": show,
    "/": search,
    x: tick,
    ...Object.fromEntries(Object.keys(acts).map((key) => [key, () => act(key)])),
    j: () => step(1),
    k: () => step(-1),
    g: () => {
      waiting = performance.now();
      return true;
    },
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat && event.key === "g") return;
    if (event.key === "Escape" && typing(event.target)?.closest("main form[role=search]")) {
      event.target.blur();
      return;
    }
    if (event.key.length !== 1 || typing(event.target) || covered() || stored()) return;
    const second = waiting > 0 && performance.now() - waiting < patience;
    waiting = 0;
    if (second ? go(event.key) : Object.hasOwn(keys, event.key) && keys[event.key]()) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("[data-shortcuts-open]")) show();
    if (event.target === dialog || event.target instanceof Element && event.target.closest("[data-shortcuts-close]")) dialog.close();
  });
  const choice = dialog.querySelector("[name=keys]");
  choice.checked = !stored();
  choice.addEventListener("change", () => {
    try {
      document.documentElement.classList.toggle(off, !choice.checked);
      if (choice.checked) localStorage.removeItem(off);
      else localStorage.setItem(off, "");
    } catch {
      // storage is forbidden: nothing to remember it in
    }
  });
})();
