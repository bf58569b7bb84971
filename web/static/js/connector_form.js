// A connector's form: the URL is completed and tested when its field is left. The result belongs to the URL that was tested; a test that
// runs can be cancelled.
(() => {
  "use strict";

  const button = document.querySelector("button[data-test]");
  if (!button) return;
  const form = button.form;
  const url = form.elements["url"];
  const name = form.elements["name"];
  const panel = () => document.getElementById("test-result");
  let auto = false; // the running test was started by leaving the field
  let tested = url.value; // by the newest test, or stored
  let pressed = false; // the field is left for a button that tests or sends the form

  // As internal/admin/connectors/form_url.go.
  const complete = (typed) => {
    const text = typed.trim();
    if (text === "" || text.includes("://") || /[\s]/.test(text) || text.startsWith("/")) return text;
    const host = text.replace(/[/?#].*$/, "").replace(/:\d+$/, "");
    const local = /^(127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|\[)/.test(host) || !host.includes(".");
    return (local ? "http://" : "https://") + text;
  };
  const test = () => {
    auto = true;
    button.click();
  };
  const cancel = () => button.dispatchEvent(new Event("htmx:abort"));

  // What is wrong with a field stands below it, as the server writes it.
  const right = (field) => {
    if (!field.id) return;
    document.getElementById(field.id + "-error")?.remove();
    field.setAttribute("aria-invalid", "false");
    field.setAttribute("aria-describedby", (field.getAttribute("aria-describedby") ?? "").replace(field.id + "-error", "").trim());
  };
  const wrong = (field, text) => {
    right(field);
    const line = document.createElement("p");
    line.id = field.id + "-error";
    line.className = "error";
    line.textContent = text;
    field.closest(".field")?.append(line);
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", (field.getAttribute("aria-describedby") + " " + line.id).trim());
  };
  // A test that nobody asked for says only what is wrong with the URL.
  const spread = (result) => {
    const items = result.querySelectorAll("[data-field]");
    let first;
    for (const item of items) {
      const field = form.elements[item.dataset.field];
      if (!(field instanceof HTMLElement) || (auto && field !== url)) continue;
      for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
      wrong(field, item.textContent);
      first ??= field;
    }
    if (first || (auto && items.length)) result.querySelector(".panel")?.remove();
    if (!auto) first?.focus();
  };

  url.addEventListener("input", () => {
    cancel();
    right(url);
    panel()?.querySelector(".panel")?.remove();
    tested = "";
  });
  form.addEventListener("pointerdown", (event) => {
    pressed = event.target instanceof Element && event.target.closest("button[type=submit]") !== null;
  });
  url.addEventListener("change", () => {
    url.value = complete(url.value);
    if (url.value !== "" && url.value !== tested && !pressed) test();
    pressed = false;
  });
  url.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    if (!button.disabled) button.click(); // with all that was found
  });
  form.addEventListener("click", (event) => {
    const at = event.target instanceof Element && event.target.closest("[data-test-cancel], [data-use-auth]");
    if (!at) return;
    if (at.matches("[data-test-cancel]")) {
      cancel();
      url.focus();
      return;
    }
    form.elements["auth.type"].value = at.dataset.useAuth;
    if (at.dataset.useHeader) form.elements["auth.header"].value = at.dataset.useHeader;
    if (form.elements["auth.in"]) form.elements["auth.in"].value = at.dataset.useIn ?? "";
    form.elements["auth.type"].dispatchEvent(new Event("change", { bubbles: true }));
    test();
  });
  button.addEventListener("htmx:config:request", (event) => {
    url.value = complete(url.value);
    event.detail.ctx.request.body.set("url", url.value);
    if (auto) event.detail.ctx.request.body.set("auto", "true");
    tested = url.value;
  });
  button.addEventListener("htmx:before:request", () => {
    for (const field of form.querySelectorAll("[aria-invalid=true]")) right(field);
    panel().querySelector(".panel")?.remove();
    panel().querySelector("[data-elapsed]").dataset.since = new Date().toISOString();
    if (!auto) panel().scrollIntoView({ block: "nearest" });
  });
  button.addEventListener("htmx:after:swap", () => {
    const result = panel();
    spread(result);
    const found = result.querySelector(".panel[data-name]")?.dataset.name;
    if (found && name && name.value === "") {
      name.value = found;
      if (document.activeElement === name) name.select();
    }
  });
  button.addEventListener("htmx:finally:request", () => {
    auto = false;
  });
})();
