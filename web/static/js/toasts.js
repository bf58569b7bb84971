// Toasts: a message about the last act lies over the page where it can be seen, whatever is scrolled. One that reports success leaves
// after a while, unless the pointer or the focus is on it; a failure stays until it is closed. Without script they stand above the page.
(() => {
  "use strict";

  // The result of a sync of all connectors, which this tab has dismissed, stays away.
  const place = "sweep";
  const stored = () => {
    try {
      return sessionStorage.getItem(place);
    } catch {
      return null; // storage is forbidden
    }
  };
  const hideSweep = () => {
    const sweep = document.querySelector(".sweep[data-ended]");
    if (sweep?.dataset.ended && sweep.dataset.ended === stored()) sweep.hidden = true;
  };
  document.addEventListener("click", (event) => {
    const sweep = event.target instanceof Element && event.target.closest("[data-dismiss=sweep]")?.closest(".sweep");
    if (!sweep) return;
    sweep.hidden = true;
    try {
      sessionStorage.setItem(place, sweep.dataset.ended);
    } catch {
      // storage is forbidden: it comes back with the next page
    }
  });
  document.addEventListener("htmx:after:swap", hideSweep);
  // The answer to a click is read before it arrives, and the stream may have brought a later state of the same sync meanwhile.
  const doneIn = (sweep) => sweep?.querySelector("progress")?.value ?? 0;
  htmx.registerExtension("sweep", {
    htmx_before_morph_node: (oldNode, { newNode }) => {
      if (oldNode.id !== place || newNode.id !== place) return true;
      const [before, after] = [oldNode, newNode].map((node) => node.querySelector(".sweep"));
      return !before || before.dataset.run !== after?.dataset.run || doneIn(after) >= doneIn(before);
    },
  });
  hideSweep();

  const shownFor = 6000;
  let held = false;
  const timers = new Map(); // of each toast that leaves by itself
  const toastOf = (event) => event.target instanceof Element && event.target.closest("#toasts .flash > p");
  const close = (toast) => {
    clearTimeout(timers.get(toast));
    timers.delete(toast);
    toast.remove();
  };
  const begin = (toast) => {
    clearTimeout(timers.get(toast));
    if (toast.dataset.kind === "notice") timers.set(toast, held ? 0 : setTimeout(close, shownFor, toast));
  };
  const hold = (on) => {
    if (held === on) return;
    held = on;
    for (const toast of timers.keys()) begin(toast);
  };
  const isHeld = () => document.querySelector("#toasts p:is(:hover, :focus-within)") !== null;
  for (const type of ["pointerover", "pointerout", "focusin", "focusout"]) {
    document.addEventListener(type, (event) => {
      if (toastOf(event)) setTimeout(() => hold(isHeld()));
    });
  }
  document.addEventListener("keydown", (event) => {
    const toast = event.key === "Escape" && toastOf(event);
    if (toast) close(toast);
  });
  document.addEventListener("click", (event) => {
    const toast = toastOf(event);
    if (!toast || !event.target.closest("[data-close]")) return;
    close(toast);
    hold(false);
  });

  // A toast is new when it has no button to close it: a swap brings it without, also in place of an older one.
  const show = (toast) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn";
    button.dataset.variant = "ghost";
    button.dataset.size = "icon-xs";
    button.dataset.close = "";
    button.ariaLabel = words.say("Dismiss");
    button.textContent = "×";
    toast.append(button);
    begin(toast);
  };
  const showNew = () => {
    hold(isHeld()); // the focus may be older than this script
    document.querySelectorAll("#toasts .flash > p:not(:has(> [data-close]))").forEach(show);
  };
  new MutationObserver(showNew).observe(document.body, { subtree: true, childList: true });
  showNew();
})();
