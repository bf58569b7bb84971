// A page's filters are in its address. This browser keeps addresses under names, for each person and organisation apart.
(() => {
  "use strict";

  const menu = document.getElementById("views");
  if (!menu) return;
  const place = "views " + menu.dataset.of;
  const most = 30;
  const read = () => {
    try {
      return JSON.parse(localStorage.getItem(place)) ?? [];
    } catch {
      return []; // storage is forbidden, or was written by another version
    }
  };
  const write = (list) => {
    try {
      localStorage.setItem(place, JSON.stringify(list));
    } catch {
      // storage is forbidden: nothing to remember it in
    }
    show();
  };
  const here = () => {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of [...query]) if (name === "cursor" || value === "") query.delete(name);
    return location.pathname + (query.size ? "?" + query : "");
  };
  const ours = (v) => typeof v?.name === "string" && typeof v.path === "string" && /^\/(?![/\\])/.test(v.path);

  const list = menu.querySelector("ul");
  const show = () => {
    const row = menu.querySelector("template").content.firstElementChild;
    list.replaceChildren(
      ...read().filter(ours).map((v) => {
        const item = row.cloneNode(true);
        const link = item.querySelector("a");
        link.href = v.path;
        link.querySelector("span").textContent = v.name;
        const remove = item.querySelector("button");
        remove.setAttribute("aria-label", remove.getAttribute("aria-label") + ": " + v.name);
        remove.addEventListener("click", () => {
          write(read().filter((other) => other.path !== v.path));
          name.focus();
        });
        return item;
      }),
    );
  };
  const name = menu.querySelector("input");
  const save = () => {
    const path = here();
    const called = name.value.trim() || document.querySelector("h1")?.textContent.trim() || path;
    write([{ name: called, path }, ...read().filter((v) => ours(v) && v.path !== path)].slice(0, most));
    name.value = "";
  };
  menu.querySelector("[data-view-save]").addEventListener("click", save);
  name.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) save();
  });
  // The address may be another one than when the page was loaded: a filter writes it.
  menu.addEventListener("toggle", () => {
    menu.querySelector("[data-copy]").dataset.copy = location.origin + here();
    for (const link of list.querySelectorAll("a")) link.setAttribute("aria-current", String(link.getAttribute("href") === here()));
  });
  addEventListener("storage", (event) => {
    if (event.key === place) show();
  });
  show();
})();
