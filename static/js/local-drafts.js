// What is typed and neither saved nor filed, kept in this browser: in IndexedDB, whose finished writes outlive a
// browser that is killed. A copy is removed when its result is filed, when it is discarded, and when the person whose
// it is signs out; those that the site does not have are shown on the to-do page. The results form uses it as window.localCopies.

const STORE = "copies";
const FILING = "emma-filing";
const LONGEST_WAIT_MS = 1500;
const own = `${document.body.dataset.user}:`;
let database = null;
let isOver = false; // signed out: nothing is kept any more

function open() {
  database ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("emma", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => {
      request.result.onclose = request.result.onversionchange = () => { request.result.close(); database = null; };
      resolve(request.result);
    };
    request.onerror = () => { database = null; reject(request.error); };
  });
  return database;
}

async function act(mode, ask, isWhole = true) {
  const transaction = (await open()).transaction(STORE, mode, { durability: "strict" });
  const request = ask(transaction.objectStore(STORE));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error);
    if (isWhole) transaction.commit?.();
  });
}

const keyOf = (kind, name) => `${own}${kind}:${name}`;
const keep = (key, copy) => (isOver ? Promise.reject(new Error("signed out")) : act("readwrite", (store) => store.put(copy, key)));
const remove = (key) => act("readwrite", (store) => store.delete(key)).catch(() => {});
const allFrom = (start) => IDBKeyRange.bound(start, `${start}\uffff`);
const read = (key) => withinReason(act("readonly", (store) => store.get(key)));

// Removed only while it is still what was sent: what was changed meanwhile stays.
const removeIf = (key, sent) => act("readwrite", (store) => {
  const request = store.get(key);
  request.onsuccess = () => { if (JSON.stringify(request.result) === JSON.stringify(sent)) store.delete(key); };
  return request;
}, false).catch(() => {});

// Every copy whose key begins so; null where this browser can't say.
function readAll(start) {
  const range = allFrom(start);
  let keys;
  const values = act("readonly", (store) => { keys = store.getAllKeys(range); return store.getAll(range); });
  return withinReason(values.then((found) => new Map(keys.result.map((key, place) => [key, found[place]]))));
}

// A browser that forbids or blocks its memory must not hold up the form.
const withinReason = (promise) => Promise.race([
  promise.catch(() => null),
  new Promise((go) => { setTimeout(go, LONGEST_WAIT_MS, null); }),
]);

window.localCopies = { keyOf, keep, remove, removeIf, read, readAll };

document.addEventListener("submit", async (event) => {
  const { target } = event;
  if (target.dataset.discards) remove(keyOf("draft", target.dataset.discards));
  if (!target.matches("[data-signs-out]")) return;
  event.preventDefault();
  if (await window.callMarks?.mayBeCleared() === false) return;
  if (await window.keptRecordings?.mayBeCleared() === false) return;
  isOver = true;
  await withinReason(act("readwrite", (store) => store.delete(allFrom(own)))); // what others left waits for them
  target.submit();
});

const filed = document.querySelector("[data-filed-draft]")?.dataset.filedDraft;
if (filed) remove(keyOf("draft", filed));
const filing = sessionStorage.getItem(FILING);
if (filing && /^\/results\/\d+\/$/.test(location.pathname) && document.querySelector(".notice-success")) {
  remove(filing);
  sessionStorage.removeItem(FILING);
}

// --- on the to-do page ------------------------------------------------------------------------------

const box = document.querySelector("[data-local-copies]");
if (box) showCopies();

async function showCopies() {
  const saved = new Set([...document.querySelectorAll("[data-discards]")].map((each) => keyOf("draft", each.dataset.discards)));
  const keys = await withinReason(act("readonly", (store) => store.getAllKeys()));
  for (const key of (keys ?? []).filter((each) => each.startsWith(own) && !each.startsWith(keyOf("call", "")) && !saved.has(each))) {
    const copy = await read(key);
    if (copy) box.querySelector("ul").append(rowOf(key, copy));
  }
  box.hidden = !box.querySelector("li");
}

function rowOf(key, { address, title, fields }) {
  const row = document.createElement("li");
  row.className = "todo-row";
  const said = document.createElement("div");
  const link = document.createElement("a");
  Object.assign(link, { href: address, textContent: key.startsWith(keyOf("correction", "")) ? `Correction of “${title}”` : title });
  const words = document.createElement("bdi");
  words.textContent = (fields.comment ?? "").slice(0, 80);
  said.append(link, document.createElement("br"), words);
  words.className = "small quiet";
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "button compact", textContent: "Discard" });
  button.setAttribute("aria-label", `Discard ${link.textContent}`);
  button.addEventListener("click", async () => {
    await remove(key);
    row.remove();
    box.hidden = !box.querySelector("li");
  });
  row.append(said, button);
  return row;
}
