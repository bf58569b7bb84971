// What scripts say, in the page's language: the page brings the texts, by their English ones, and every script after this one says them.
const words = (() => {
  "use strict";

  const language = document.documentElement.lang || "en";
  const texts = JSON.parse(document.getElementById("said")?.dataset.words ?? "{}");
  const forms = new Intl.PluralRules(language);
  const number = (n, digits = 0) => n.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const fill = (text, args) => {
    let next = 0;
    return text.replace(/%(?:\[(\d)\])?s/g, (_, at) => String(args[at ? at - 1 : next++]));
  };
  return {
    number,
    say: (key, ...args) => fill(texts[key] ?? key, args),
    count: (n, key, ...args) => fill(texts[key]?.[forms.select(n)] ?? texts[key]?.other ?? key, [number(n), ...args]),
  };
})();
