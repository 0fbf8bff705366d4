// Light or dark: the system decides until the person does. Loaded before the first paint.
const KEY = "emma-theme";
const root = document.documentElement;
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
