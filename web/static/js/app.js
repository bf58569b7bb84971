// What sharpens pages that work without it: copying, the theme menu and the fields of the chosen authentication. Everything
// is listened for at the document, so that parts that htmx swaps in need no set-up.
(() => {
  "use strict";

  const on = (type, selector, handle) =>
    document.addEventListener(type, (event) => {
      const at = event.target instanceof Element && event.target.closest(selector);
      if (at) handle(at, event);
    });
  // A changed form that is not saved asks before the page is left, also for another form of the page. The browser has its own words for it.
  const changed = (form) =>
    form.querySelector("[aria-invalid=true], .form-problem") ||
    [...form.elements].some((e) =>
      e.type === "hidden" || e.type === "submit" || !e.name ? false
      : e.type === "checkbox" || e.type === "radio" ? e.checked !== e.defaultChecked
      : e.options ? [...e.options].some((o) => o.selected !== o.defaultSelected) && [...e.options].some((o) => o.defaultSelected)
      : e.value !== e.defaultValue,
    );
  let sent = null;
  addEventListener("submit", (event) => {
    if (!event.defaultPrevented) sent = event.target;
  });
  addEventListener("pageshow", () => (sent = null));
  addEventListener("beforeunload", (event) => {
    if ([...document.querySelectorAll("main form[data-unsaved]")].some((form) => form !== sent && changed(form))) event.preventDefault();
  });

  // A choice that is a form of its own is sent at once. Chosen with the keyboard, it is sent by Enter or when it is left.
  let keyed = null;
  const send = (select) => {
    if ([...select.options].some((o) => o.selected !== o.defaultSelected)) select.form.requestSubmit();
  };
  on("keydown", "[data-submits]", (select, event) => {
    if (/^Arrow/.test(event.key) || event.key.length === 1) keyed = select;
    if (event.key !== "Enter" || keyed !== select) return;
    event.preventDefault();
    send(select);
  });
  on("pointerdown", "[data-submits]", () => (keyed = null));
  on("change", "[data-submits]", (select) => {
    if (keyed !== select) send(select);
  });
  on("focusout", "[data-submits]", (select) => {
    if (keyed === select) send(select);
    keyed = null;
  });

  // The button at the head of a list shows the form that creates one.
  const showCreate = () => document.querySelector(".create:target :is(input:not([type=hidden]), select, textarea)")?.focus({ preventScroll: true });
  addEventListener("hashchange", showCreate);
  showCreate();

  const say = (text) => {
    document.getElementById("said")?.replaceChildren(text);
  };

  // Copy. Browsers have no clipboard on pages without TLS, and may refuse it elsewhere: then the old way may do.
  const oldCopy = (button) => {
    const area = document.createElement("textarea");
    area.value = button.dataset.copy;
    area.className = "sr-only";
    button.after(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    button.focus();
    return done;
  };
  const copy = async (button) => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      return true;
    } catch {
      return oldCopy(button);
    }
  };
  on("click", "[data-copy]", async (button) => {
    if (!(await copy(button))) {
      const shown = button.closest(".code")?.querySelector("pre");
      if (shown) getSelection().selectAllChildren(shown);
      say(shown ? words.say("The browser blocked copying. The text is selected") : words.say("The browser blocked copying"));
      return;
    }
    say(words.say("Copied"));
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
  addEventListener("patchbay:themed", showTheme);
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

  // What a script asked for and nobody answered. What was answered with a failure says so itself.
  document.addEventListener("htmx:error", (event) => {
    const alert = document.getElementById("alert");
    if (!alert || !(event.target instanceof Element) || event.target.hasAttribute("hx-sse:connect")) return;
    const sentence = document.createElement("p");
    sentence.dataset.kind = "alert";
    sentence.textContent = alert.dataset.unreachable;
    alert.replaceChildren(sentence);
  });
  document.addEventListener("htmx:before:request", (event) => {
    if (event.target instanceof Element && event.target.matches("form, button")) document.getElementById("alert")?.replaceChildren();
  });

  // On a narrow screen the tab of the page may lie outside the bar.
  const tabs = document.querySelector(".tabs-bar");
  const tab = tabs?.querySelector("[aria-current]");
  if (tab) tabs.scrollLeft += tab.getBoundingClientRect().right - tabs.getBoundingClientRect().right + 24;

  // A form that comes back begins at what is wrong with it.
  document.querySelector("main [aria-invalid=true]")?.focus();

  // What an import would do may lie below the fold.
  document.addEventListener("htmx:after:swap", (event) => {
    if (event.detail.ctx?.target?.id === "import-preview") {
      document.getElementById("import-preview")?.scrollIntoView({ block: "center" });
    }
  });
})();
