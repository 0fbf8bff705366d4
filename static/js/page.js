// On every page, before the first paint: that there are scripts, light or dark, which the system decides until the
// person does, and by what the site knows that a script's request comes from a page of its own.
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

// Read from the cookie each time: signing in again, in another tab, changes it, and what stands in the page is then old.
window.csrfToken = () => {
  const cookie = document.cookie.split("; ").find((each) => /^(__Host-)?csrf=/.test(each));
  return cookie ? decodeURIComponent(cookie.slice(cookie.indexOf("=") + 1)) : document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
};
