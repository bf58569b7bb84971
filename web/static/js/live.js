// Durations that count while a call runs or waits. The server says when it began; the page does the rest.
(() => {
  "use strict";

  const words = (ms) => {
    const s = ms / 1000;
    if (s < 60) return s.toFixed(1) + " s";
    if (s < 3600) return Math.floor(s / 60) + " min " + Math.floor(s % 60) + " s";
    return Math.floor(s / 3600) + " h " + Math.floor((s % 3600) / 60) + " min";
  };
  const tick = () => {
    const now = Date.now();
    for (const e of document.querySelectorAll("[data-since]")) {
      e.textContent = words(Math.max(0, now - Date.parse(e.dataset.since)));
    }
  };
  tick();
  setInterval(tick, 500);
})();
