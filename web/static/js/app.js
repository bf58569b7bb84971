// What sharpens pages that work without it: copying, the theme menu, the fields of the chosen authentication, and the
// search that jumps. Everything is listened for at the document, so that parts that htmx swaps in need no set-up.
(() => {
  "use strict";

  const on = (type, selector, handle) =>
    document.addEventListener(type, (event) => {
      const at = event.target instanceof Element && event.target.closest(selector);
      if (at) handle(at, event);
    });
  const say = (words) => {
    document.getElementById("said")?.replaceChildren(words);
  };

  // Copy
  on("click", "[data-copy]", async (button) => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
    } catch {
      say("Copying was refused by the browser");
      return;
    }
    say("Copied");
    button.dataset.copied = "";
    const use = button.querySelector("use");
    const icon = use.getAttribute("href");
    use.setAttribute("href", icon.replace(/#.*/, "#check"));
    setTimeout(() => {
      delete button.dataset.copied;
      use.setAttribute("href", icon.replace(/#.*/, "#copy"));
    }, 1500);
  });

  // Theme
  const showTheme = () => {
    const chosen = document.documentElement.dataset.theme;
    for (const b of document.querySelectorAll("[data-theme-set]")) {
      b.setAttribute("aria-pressed", String(b.dataset.themeSet === chosen));
    }
  };
  on("click", "[data-theme-set]", (button) => {
    dispatchEvent(new CustomEvent("patchbay:theme", { detail: button.dataset.themeSet }));
    showTheme();
    button.closest("[popover]")?.hidePopover();
  });
  showTheme();

  // Only the fields that fit the chosen authentication are shown and sent. One that is wrong is shown whatever is chosen.
  const fits = (list, type) => list.split(" ").includes(type);
  const holds = (field) => (field.type === "checkbox" ? field.checked : field.value !== "");
  const fold = (details, type) => {
    const folds = fits(details.dataset.fold, type);
    if (folds && "flat" in details.dataset) {
      details.open = [...details.querySelectorAll("input, select, textarea")].some((f) => !f.matches(":disabled") && holds(f));
    }
    if (!folds) details.open = true;
    details.toggleAttribute("data-flat", !folds);
  };
  // A program has a command in place of an address and a sign-in.
  const showTransport = (form) => {
    const transport = form.elements["transport"]?.value;
    if (!transport) return;
    for (const group of form.querySelectorAll("[data-transport]")) {
      group.hidden = !fits(group.dataset.transport, transport) && group.querySelector("[aria-invalid=true]") === null;
      for (const input of group.querySelectorAll("input, select, textarea")) {
        if (group.hidden) input.disabled = true;
        else if (!input.closest("[data-secret]")) input.disabled = false;
      }
    }
  };
  const showSecrets = (form) => {
    const type = form.elements["auth.type"]?.value;
    const mode = form.elements["credential_mode"];
    const perAgent = mode?.value === "per_agent";
    if (mode) mode.closest(".field").hidden = type === "none" && mode.getAttribute("aria-invalid") !== "true";
    for (const group of form.querySelectorAll("[data-auth]")) {
      const wrong = group.querySelector("[aria-invalid=true]") !== null;
      group.hidden = !fits(group.dataset.auth, type) && !wrong;
      group.disabled = group.hidden;
    }
    for (const secret of form.querySelectorAll("[data-secret]")) {
      const ofAgents = perAgent && (!secret.dataset.secret || fits(secret.dataset.secret, type));
      secret.hidden = ofAgents && !secret.querySelector("[aria-invalid=true]");
      for (const input of secret.querySelectorAll("input, textarea")) input.disabled = secret.hidden;
    }
    for (const details of form.querySelectorAll("[data-fold]")) fold(details, type);
    showTransport(form);
  };
  on("change", "[data-auth-form]", showSecrets);
  document.querySelectorAll("[data-auth-form]").forEach(showSecrets);

  // A form that comes back begins at what is wrong with it.
  document.querySelector("main [aria-invalid=true]")?.focus();

  // What a test found, or what an import would do, may lie below the fold.
  document.addEventListener("htmx:after:swap", (event) => {
    const id = event.detail.ctx?.target?.id;
    if (id === "test-result" || id === "import-preview") {
      document.getElementById(id)?.scrollIntoView({ block: "center" });
    }
  });

  // Search or jump to
  const palette = document.getElementById("palette");
  const input = palette?.querySelector("input");
  const list = palette?.querySelector("[role=listbox]");
  if (!palette || !input || !list) return;
  const places = [...list.children];
  let asked;

  const shown = () => [...list.children].filter((o) => !o.hidden);
  const choose = (option) => {
    for (const o of list.children) o.setAttribute("aria-selected", String(o === option));
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  };
  const chosen = () => list.querySelector("[aria-selected=true]:not([hidden])");
  const place = (id, like, href, text) => {
    const option = list.querySelector(like).cloneNode(true);
    option.id = id;
    option.hidden = false;
    option.href = href;
    option.querySelector("span").textContent = text;
    option.dataset.found = "";
    return option;
  };

  // The list of connectors is asked as a person would: by its page.
  const connectors = async (q, signal) => {
    const reply = await fetch("/connectors?q=" + encodeURIComponent(q), { signal, headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    return [...page.querySelectorAll("#connectors a.cover")].slice(0, 6);
  };
  const search = async () => {
    const q = input.value.trim();
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    for (const o of list.querySelectorAll("[data-found]")) o.remove();
    for (const o of places) o.hidden = !o.textContent.toLowerCase().includes(q.toLowerCase());
    if (q) list.append(place("found-tools", "#place-tools", "/tools?q=" + encodeURIComponent(q), `Tools that mention “${q}”`));
    choose(shown()[0]);
    if (!q) return;
    try {
      await new Promise((resolve) => setTimeout(resolve, 150));
      if (signal.aborted) return;
      const found = await connectors(q, signal);
      const options = found.map((a, i) => place("found-" + i, "#place-connectors", a.getAttribute("href"), a.textContent));
      list.prepend(...options);
      choose(shown()[0]);
    } catch {
      // asked anew, or out of reach: the places that are known stay
    }
  };
  if (!/Mac|iP(hone|ad|od)/.test(navigator.platform)) {
    for (const key of document.querySelectorAll(".jump kbd")) key.textContent = "Ctrl K";
  }
  const open = () => {
    document.getElementById("sidebar")?.hidePopover?.();
    input.value = "";
    search();
    palette.showModal();
  };

  on("click", "[data-palette-open]", (_, event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  palette.addEventListener("click", (event) => {
    if (event.target === palette) palette.close();
  });
  palette.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    chosen()?.click();
  });
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const options = shown();
    choose(options[(options.indexOf(chosen()) + step + options.length) % options.length]);
  });
  document.addEventListener("keydown", (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (palette.open) palette.close();
      else open();
    }
  });
})();
