// Sets the theme before the first paint. The choice is "light", "dark" or, where nothing is stored, the system's.
(() => {
  "use strict";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");

  const choice = () => {
    try {
      const stored = localStorage.getItem("theme");
      return stored === "light" || stored === "dark" ? stored : "system";
    } catch {
      return "system"; // storage is forbidden: the system decides
    }
  };

  const apply = () => {
    const chosen = choice();
    const dark = chosen === "dark" || (chosen === "system" && system.matches);
    root.dataset.theme = chosen; // for our tokens
    root.classList.toggle("dark", dark); // for Basecoat, which knows no system
  };

  root.classList.add("scripted");
  try {
    if (localStorage.getItem("keys-off") !== null) root.classList.add("keys-off");
  } catch {
    // storage is forbidden: the keys work
  }
  apply();
  system.addEventListener("change", apply);
  addEventListener("storage", apply);
  addEventListener("patchbay:theme", (event) => {
    try {
      if (event.detail === "system") localStorage.removeItem("theme");
      else localStorage.setItem("theme", event.detail);
    } catch {
      // storage is forbidden: nothing to remember it in
    }
    apply();
  });
})();
