// Before the first paint: chips instead of number fields, unless the form's own script can't be loaded.
document.documentElement.classList.add("scripted");
addEventListener("error", (event) => {
  if (event.target instanceof HTMLScriptElement && event.target.src.includes("/result-form")) {
    document.documentElement.classList.remove("scripted");
  }
}, true);
