// Forms: one is sent once and shows that it is on its way; afterwards the page is where it was, and the button says that it is done.
(() => {
  "use strict";

  const place = "sent";
  const isLate = 60_000; // a page that comes later was not led to by the form
  const store = (value) => {
    try {
      if (value) sessionStorage.setItem(place, JSON.stringify(value));
      else sessionStorage.removeItem(place);
    } catch {
      // storage is forbidden: the page begins at its top
    }
  };
  const stored = () => {
    try {
      return JSON.parse(sessionStorage.getItem(place));
    } catch {
      return null;
    }
  };
  const buttonsOf = (form) => [...form.elements].filter((e) => e.type === "submit");

  const unsend = (form) => {
    delete form.dataset.sent;
    form.removeAttribute("aria-busy");
    for (const button of form.querySelectorAll("[data-busy]")) {
      delete button.dataset.busy;
      button.disabled = false;
    }
  };
  // A browser leaves out the value of a disabled button, so the buttons are disabled once the form is read.
  const disable = (form, submitter) => {
    if (!("sent" in form.dataset)) return;
    for (const button of buttonsOf(form)) {
      if (button.disabled) continue;
      button.dataset.busy = button === submitter ? "this" : "";
      button.disabled = true;
    }
  };
  addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.getAttribute("method") !== "post" || form.target === "_blank") return;
    if ("sent" in form.dataset) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "";
    form.setAttribute("aria-busy", "true");
    store({ path: location.pathname, y: scrollY, at: Date.now(), action: form.getAttribute("action"), button: buttonsOf(form).indexOf(event.submitter) });
    setTimeout(disable, 0, form, event.submitter);
    setTimeout(unsend, 10_000, form);
  });
  addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach(unsend));

  const showDone = (sent) => {
    const form = [...document.forms].find((f) => f.getAttribute("method") === "post" && f.getAttribute("action") === sent.action);
    const button = form && buttonsOf(form)[sent.button];
    if (!button) return;
    button.dataset.done = "";
    setTimeout(() => delete button.dataset.done, 2000);
  };

  // A form that comes back begins at what is wrong with it.
  const wrong = document.querySelector("main [aria-invalid=true]");
  const sent = stored();
  store(null);
  if (wrong) {
    wrong.focus();
  } else if (sent?.path === location.pathname && Date.now() - sent.at < isLate && !document.querySelector("main .form-problem")) {
    if (document.querySelector("#toasts p")) scrollTo(0, sent.y);
    if (document.querySelector("#notice > p")) showDone(sent);
  }

  // What a selection can do is shown when there is one. The boxes belong to the bar's form.
  const boxesOf = (bar) => [...bar.elements].filter((e) => e.type === "checkbox");
  const showBar = (bar) => {
    const chosen = boxesOf(bar).filter((box) => box.checked).length;
    bar.hidden = chosen === 0 && !bar.querySelector("[role=alert]");
    const count = bar.querySelector("[data-bulk-count]");
    if (count) count.textContent = words.say("%s selected", words.number(chosen));
  };
  const showBars = () => document.querySelectorAll("form[data-bulk]").forEach(showBar);
  document.addEventListener("change", (event) => {
    const bar = event.target.form;
    if (bar?.matches("[data-bulk]")) showBar(bar);
  });
  document.addEventListener("click", (event) => {
    const bar = event.target instanceof Element && event.target.closest("[data-bulk-clear]")?.form;
    if (!bar) return;
    event.preventDefault();
    for (const box of boxesOf(bar)) box.checked = false;
    showBar(bar);
  });
  document.addEventListener("htmx:after:swap", showBars);
  addEventListener("pageshow", showBars);
  showBars();
})();
