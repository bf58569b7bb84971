// The palette: a combobox over pages and actions, which are in the page, and connectors, agents and tools, which the server finds by name.
// The focus stays in its field; the dialog gives it back to where it was.
(() => {
  "use strict";

  const palette = document.getElementById("palette");
  const input = palette?.querySelector("[role=combobox]");
  const list = palette?.querySelector("[role=listbox]");
  if (!palette || !input || !list) return;
  const found = document.getElementById("palette-found");
  const status = palette.querySelector("[role=status]");
  let asked;
  let answer = Promise.resolve();

  const nameOf = (option) => option.querySelector(".way");

  // Pages that were chosen lately, in this tab. Their names stay in it.
  const recent = document.getElementById("palette-recent");
  const kept = "palette-recent";
  const recall = () => {
    try {
      return JSON.parse(sessionStorage.getItem(kept)) ?? [];
    } catch {
      return []; // storage is forbidden, or holds something else
    }
  };
  const remember = (option) => {
    const icon = (option.querySelector("use") ?? list.querySelector("a[href='/connectors'] use"))?.getAttribute("href"); // a connector's own is not kept
    const entry = { text: nameOf(option).textContent, href: option.getAttribute("href"), icon };
    const entries = [entry, ...recall().filter((r) => r.href !== entry.href)].slice(0, 5);
    try {
      sessionStorage.setItem(kept, JSON.stringify(entries));
    } catch {
      // nothing is remembered
    }
  };
  // A copy of a known option, with another text, icon and place.
  const copy = (model, id, text, icon) => {
    const option = model.cloneNode(true);
    option.id = id;
    option.hidden = false;
    option.setAttribute("aria-selected", "false");
    nameOf(option).textContent = text;
    if (icon) option.querySelector("use").setAttribute("href", icon);
    return option;
  };
  const fill = (group, made) => {
    group.replaceChildren(group.firstElementChild, ...made);
  };
  // The buttons of the present page's title: what can be done here.
  const acts = document.getElementById("palette-acts");
  const link = list.querySelector("a[role=option]");
  const known = () => {
    const here = [...document.querySelectorAll("main .title .actions :is(a, button).btn")].filter((e) => e.checkVisibility() && !e.disabled);
    const one = (element, i) => {
      const option = copy(link, "option-act-" + i, element.getAttribute("aria-label") ?? element.textContent.trim(), element.querySelector("use")?.getAttribute("href"));
      option.removeAttribute("href");
      option.act = element;
      return option;
    };
    fill(acts, here.map(one));
    fill(
      recent,
      recall()
        .filter((r) => typeof r.href === "string" && r.href.startsWith("/") && r.href !== location.pathname)
        .map((r, i) => {
          const option = copy(link, "option-recent-" + i, r.text, r.icon);
          option.setAttribute("href", r.href);
          return option;
        }),
    );
  };

  const options = () => [...list.querySelectorAll("[role=option]")];
  const shown = () => options().filter((o) => !o.hidden && !o.closest("[hidden]"));
  const chosen = () => list.querySelector("[aria-selected=true]:not([hidden])");
  const choose = (option) => {
    for (const o of options()) o.setAttribute("aria-selected", String(o === option));
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
    if (option === shown()[0]) list.scrollTop = 0;
    else option?.scrollIntoView({ block: "nearest" });
  };

  const here = () => [...list.querySelectorAll(":scope > [role=group]")];
  const filter = (q) => {
    const words = q.toLowerCase().split(/\s+/);
    for (const group of here()) {
      for (const o of group.querySelectorAll("[role=option]")) {
        const text = o.textContent.toLowerCase();
        o.hidden = !words.every((word) => text.includes(word));
      }
      group.hidden = !group.querySelector("[role=option]:not([hidden])");
    }
    if (q) recent.hidden = true; // the search finds them
  };
  // What tools say of themselves is searched on their page.
  const mentions = document.getElementById("palette-mentions");
  const mention = (q) => {
    mentions.hidden = q === "";
    const option = mentions.firstElementChild;
    option.hidden = q === "";
    option.href = "/tools?" + new URLSearchParams({ q });
    nameOf(option).textContent = mentions.dataset.text.replace("%s", () => q);
  };
  const say = () => {
    const all = shown();
    const n = all.length;
    const capped = all.some((option) => "wayMore" in option.dataset);
    status.textContent = capped ? status.dataset.capped : n === 1 ? status.dataset.one : status.dataset.more.replace("%s", String(n));
    input.setAttribute("aria-expanded", String(n > 0));
  };

  const ask = async (q, signal) => {
    await new Promise((resolve) => setTimeout(resolve, 120)); // another key may follow
    if (signal.aborted) return null;
    const reply = await fetch("/search?" + new URLSearchParams({ q }), { signal, headers: { "HX-Request": "true", "Patchbay-Part": "options" } });
    if (reply.status === 401) location.reload(); // the session ended: the page says so
    if (!reply.ok) return null;
    return new DOMParser().parseFromString(await reply.text(), "text/html").body.children;
  };
  const search = async () => {
    const q = input.value.trim();
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    filter(q);
    mention(q);
    found.replaceChildren();
    choose(shown()[0]);
    if (!q) {
      list.removeAttribute("aria-busy");
      say();
      return;
    }
    list.setAttribute("aria-busy", "true");
    try {
      const groups = await ask(q, signal);
      if (signal.aborted) return;
      if (groups) {
        const moved = chosen() !== shown()[0] && !chosen()?.closest("#palette-mentions");
        found.replaceChildren(...groups);
        if (!moved) choose(shown()[0]);
      }
    } catch {
      if (signal.aborted) return; // asked anew
      // out of reach: the pages and actions that are known stay
    }
    list.removeAttribute("aria-busy");
    say();
  };

  if (!/Mac|iP(hone|ad|od)/.test(navigator.platform)) {
    for (const key of document.querySelectorAll(".jump kbd")) key.textContent = key.dataset.other;
  }
  const open = () => {
    document.getElementById("sidebar")?.hidePopover?.();
    input.value = "";
    known();
    palette.showModal();
    anew();
  };

  document.addEventListener("click", (event) => {
    const opener = event.target instanceof Element && event.target.closest("[data-palette-open]");
    if (!opener || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  palette.addEventListener("click", (event) => {
    if (event.target === palette) palette.close();
    const option = event.target instanceof Element && event.target.closest("[role=option]");
    if (!option) return;
    if (option.act) {
      palette.close();
      option.act.click();
      return;
    }
    if (option.href) remember(option);
    if (option.type === "button") palette.close(); // what it does, it does to this page
    if ("themeToggle" in option.dataset) {
      const dark = document.documentElement.classList.contains("dark");
      dispatchEvent(new CustomEvent("patchbay:theme", { detail: dark ? "light" : "dark" }));
      dispatchEvent(new Event("patchbay:themed"));
    }
    // An address of this page loads nothing: the dialog must not stay over what it leads to.
    if (option.href && option.pathname === location.pathname && option.hash) palette.close();
  });
  palette.addEventListener("close", () => asked?.abort());
  // A page that comes back as it was left comes without what was open over it.
  addEventListener("pagehide", () => palette.close());
  // Who types and presses Enter at once means what is found, and not what was known before it.
  palette.querySelector("form[role=search]").addEventListener("submit", async (event) => {
    event.preventDefault();
    await answer;
    if (palette.open) chosen()?.click();
  });
  const anew = () => {
    answer = search();
  };
  input.addEventListener("input", anew);
  input.addEventListener("keydown", (event) => {
    const all = shown();
    const at = all.indexOf(chosen());
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: Math.min(at + 8, all.length - 1), PageUp: Math.max(at - 8, 0) }[event.key];
    if (next === undefined || !all.length) return;
    event.preventDefault();
    choose(all[(next + all.length) % all.length]);
  });
  // A pointer over an option chooses it, so that there is one chosen option whichever way it is chosen.
  list.addEventListener("pointermove", (event) => {
    const option = event.target.closest("[role=option]");
    if (option && option !== chosen()) choose(option);
  });
  document.addEventListener("keydown", (event) => {
    if ((event.metaKey || event.ctrlKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (palette.open) palette.close();
      else if (!document.querySelector("dialog[open]")) open();
    }
  });
})();
