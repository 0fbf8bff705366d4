// Before the first paint: chips instead of number fields, unless a script of the form can't be loaded.
document.documentElement.classList.add("scripted");
addEventListener("error", (event) => {
  if (event.target instanceof HTMLScriptElement && /\/(result-form|tag-picker|review)/.test(event.target.src)) {
    document.documentElement.classList.remove("scripted");
  }
}, true);
