// Before the first paint: that there are scripts, and light or dark, which the system decides until the person does.
const root = document.documentElement;

// Chips instead of number fields, unless a script of such a form can't be loaded.
root.classList.add("scripted");
addEventListener("error", ({ target }) => {
  if (target instanceof HTMLScriptElement && /\/(long-form|result-form|tag-picker|review)/.test(target.src)) root.classList.remove("scripted");
}, true);

const KEY = "emma-theme";
const kept = localStorage.getItem(KEY);
if (kept) root.dataset.theme = kept;

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-theme-switch]")) return;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  localStorage.setItem(KEY, root.dataset.theme);
});
