// Copies of drafts that this browser keeps: removed when their result is filed, when they are discarded, and on
// sign-out; those that never reached the site are shown on the to-do page.

const PREFIX = "emma-draft:";
const FILING = "emma-filing";
const own = `${PREFIX}${document.body.dataset.user}:`;
const keys = () => Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
const remove = (uuid) => localStorage.removeItem(own + uuid);

document.addEventListener("submit", ({ target }) => {
  if (target.matches("[data-signs-out]")) keys().forEach((key) => localStorage.removeItem(key));
  if (target.dataset.discards) remove(target.dataset.discards);
});

const filed = document.querySelector("[data-filed-draft]")?.dataset.filedDraft;
if (filed) remove(filed);
const filing = sessionStorage.getItem(FILING);
if (filing && /^\/results\/\d+\/$/.test(location.pathname)) {
  remove(filing);
  sessionStorage.removeItem(FILING);
}

const box = document.querySelector("[data-local-drafts]");
if (box) {
  const saved = new Set([...document.querySelectorAll("[data-discards]")].map((each) => each.dataset.discards));
  const list = box.querySelector("ul");
  for (const key of keys().filter((each) => each.startsWith(own) && !saved.has(each.slice(own.length)))) {
    const copy = JSON.parse(localStorage.getItem(key));
    const row = document.createElement("li");
    row.className = "todo-row";
    const link = document.createElement("a");
    const address = new URLSearchParams({ script: copy.script, script_version: copy.fields.script_version ?? "" });
    link.href = `${box.dataset.draftAt.replace(/[0-]{36}/, key.slice(own.length))}?${address}`;
    link.textContent = copy.title;
    row.append(link);
    list.append(row);
    box.hidden = false;
  }
}
