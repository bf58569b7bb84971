// Before a form is sent that may need a confirmation, or that was open for long, the server is asked whether it may. The question lies
// over the page, so that nothing typed is lost: also when the session has ended meanwhile.
(() => {
  "use strict";

  const dialog = document.getElementById("ask");
  if (!dialog) return;
  const fresh = 60_000; // a page this young is still signed in
  const signedOut = dialog.querySelector("template").content;
  let waiting = null; // the form, with its button

  const mayBeSent = () => performance.now() < fresh && Date.now() < Number(dialog.dataset.confirmedUntil);
  const send = (path, body) =>
    fetch(path, { method: "POST", body, headers: { "Patchbay-Ask": dialog.dataset.identity, "HX-Request": "true", Accept: "text/html" } });
  const fieldsOf = (form, button) => {
    const fields = new FormData(form, button);
    return form.enctype === "multipart/form-data" ? fields : new URLSearchParams(fields);
  };

  const proceed = () => {
    const { form, button } = waiting;
    waiting = null;
    dialog.close();
    form.removeAttribute("aria-busy");
    if (button?.hasAttribute("hx-post")) return button.click();
    form.dataset.asked = "";
    form.requestSubmit(button);
  };
  const show = (content) => {
    dialog.replaceChildren(...content);
    if (!dialog.open) dialog.showModal();
    (dialog.querySelector("[aria-invalid=true]") ?? dialog.querySelector("[autofocus], input:not([type=hidden], [readonly]), a, button"))?.focus();
  };
  const parse = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html").body.childNodes;
  const take = async (answer) => {
    if (answer.status === 204) return proceed();
    if (answer.status === 401) return show(signedOut.cloneNode(true).childNodes);
    const content = await parse(answer);
    if ([...content].some((e) => e.id === "ask-title")) return show(content);
    if (!dialog.open) return proceed(); // the form's own page says what is wrong
    dialog.querySelector(":scope > [data-kind=alert]")?.remove();
    dialog.querySelector("h2").after(...content);
  };
  const ask = async () => {
    const { form, button } = waiting;
    const path = button?.getAttribute("formaction") ?? form.getAttribute("action");
    try {
      await take(await send(path, fieldsOf(form, button)));
    } catch {
      if (waiting && !dialog.open) proceed(); // the browser says that Patchbay cannot be reached
    }
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.getAttribute("method") !== "post" || form.target === "_blank" || dialog.contains(form)) return;
    if ("asked" in form.dataset) {
      delete form.dataset.asked;
      return;
    }
    if (mayBeSent()) return;
    event.preventDefault();
    if (waiting) return;
    waiting = { form, button: event.submitter };
    form.setAttribute("aria-busy", "true");
    ask();
  });

  // A form that a script sends finds out that the session has ended when it is answered.
  document.addEventListener("htmx:before:response", (event) => {
    const { ctx } = event.detail;
    const form = ctx.response.raw.status === 401 && ctx.sourceElement.closest?.("form[method=post]");
    if (!form) return;
    event.preventDefault();
    waiting = { form, button: ctx.sourceElement === form ? null : ctx.sourceElement };
    show(signedOut.cloneNode(true).childNodes);
  });

  dialog.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.target === "_blank") return;
    event.preventDefault();
    if (form.ariaBusy === "true") return;
    form.ariaBusy = "true";
    try {
      if (form.dataset.ask === "again") return await ask();
      const answer = await send(form.getAttribute("action"), fieldsOf(form));
      if (answer.status === 204) dialog.dataset.confirmedUntil = Date.now() + 3_540_000;
      await take(answer);
    } finally {
      form.ariaBusy = null;
    }
  });
  dialog.addEventListener("click", (event) => {
    if (event.target.closest("[data-ask-cancel]")) dialog.close();
  });
  dialog.addEventListener("close", () => {
    waiting?.form.removeAttribute("aria-busy");
    waiting?.button?.focus();
    waiting = null;
  });
})();
