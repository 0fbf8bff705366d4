// What was recorded beside a call and the site does not have yet: kept in this browser, in IndexedDB, chunk by chunk as
// it comes, and sent from whatever page is open. A chunk goes by a link of its own straight to where recordings are
// kept, and is forgotten here once the site has seen it there. What one person recorded, another at the same browser
// neither sees nor sends. Pages use it as window.keptRecordings.

const marks = window.callMarks;
const { user } = marks;
const ENTRIES = "entries"; // a recording: its call, its takes, and what of them the site knows
const CHUNKS = "chunks";
const CHUNK_S = 4;
const CHUNKS_AT_ONCE = 6;
const PATIENCE_MS = 15_000;
const PATIENCE_WITH_A_CHUNK_MS = 90_000;
const LONGEST_WAIT_MS = 30_000;
const MARK = `emma-recordings:${user}`; // so that other pages know that there is something to send
const own = `${user}:`;
const changed = new EventTarget();
const memory = { entries: new Map(), chunks: new Map() }; // what this browser could not keep
const went = new Map(); // by the key of a recording, how it went with sending it
let database = null;
let isOver = false;

// --- keeping ---------------------------------------------------------------------------------------------------

function open() {
  database ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("emma-recordings", 1);
    request.onupgradeneeded = () => { for (const store of [ENTRIES, CHUNKS]) request.result.createObjectStore(store); };
    request.onsuccess = () => {
      request.result.onclose = request.result.onversionchange = () => { request.result.close(); database = null; };
      resolve(request.result);
    };
    request.onerror = () => { database = null; reject(request.error); };
  });
  return database;
}

async function act(mode, ask) {
  const transaction = (await open()).transaction([ENTRIES, CHUNKS], mode, { durability: "strict" });
  const request = ask(transaction.objectStore(ENTRIES), transaction.objectStore(CHUNKS));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request?.result);
    transaction.onabort = () => reject(transaction.error ?? new Error("not kept"));
  });
}

const keyOf = (call, recording) => `${own}${call}:${recording}`;
const chunkKey = (key, take, number) => `${key}:${String(take).padStart(3, "0")}:${String(number).padStart(6, "0")}`;
const allFrom = (start) => IDBKeyRange.bound(start, `${start}\uffff`);
const read = (ask) => act("readonly", ask).catch(() => undefined);

async function entryOf(key) {
  return memory.entries.get(key) ?? read((entries) => entries.get(key));
}

// The keys of one's own recordings, or of those of one call; the oldest first.
async function keys(call = "") {
  const start = call ? `${own}${call}:` : own;
  const kept = (await read((entries) => entries.getAllKeys(allFrom(start)))) ?? [];
  return [...new Set([...kept, ...[...memory.entries.keys()].filter((key) => key.startsWith(start))])];
}

// Change an entry as it stands now, with a chunk where there is one: both are kept, or neither is. Where this browser
// keeps nothing any more, the page itself holds them; false then.
async function change(key, mend, chunk = null) {
  if (isOver) throw new Error("signed out");
  let isThere = true;
  try {
    await act("readwrite", (entries, chunks) => {
      if (chunk) chunks.put(chunk.value, chunk.key);
      const request = entries.get(key);
      request.onsuccess = () => {
        const entry = memory.entries.get(key) ?? request.result;
        if (entry) entries.put(mend(structuredClone(entry)), key);
      };
      return request;
    });
    if (memory.entries.has(key)) memory.entries.set(key, mend(structuredClone(memory.entries.get(key))));
  } catch {
    isThere = false;
    if (chunk) memory.chunks.set(chunk.key, chunk.value);
    const entry = await entryOf(key);
    if (entry) memory.entries.set(key, mend(structuredClone(entry)));
  }
  tellPage();
  return isThere;
}

async function begin(call, recording, consentAgeMs) {
  const key = keyOf(call, recording);
  const entry = { call, recording, consentAgeMs, isBegun: false, isFinished: false, takes: [] };
  await act("readwrite", (entries) => entries.put(entry, key)).catch(() => memory.entries.set(key, entry));
  try { localStorage.setItem(MARK, "1"); } catch { /* then this page alone sends it */ }
  return key;
}

const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// A chunk of a take, with what is known of the take by now. `false`: this page alone holds it.
async function keepChunk(key, take, number, bytes, facts) {
  const sha256 = hex(await crypto.subtle.digest("SHA-256", bytes));
  const chunk = { key: chunkKey(key, take, number), value: { number, size: bytes.byteLength, sha256, bytes } };
  const isThere = await change(key, (entry) => withTake(entry, take, { ...facts, count: number + 1 }), chunk);
  send();
  return isThere;
}

function withTake(entry, number, facts) {
  const { consentAgeMs = entry.consentAgeMs, ...rest } = facts;
  const takes = entry.takes.some((take) => take.number === number) ? entry.takes : [...entry.takes, { number, count: 0, isEnded: false }];
  return { ...entry, consentAgeMs, takes: takes.map((take) => (take.number === number ? { ...take, ...rest } : take)) };
}

const keepTake = (key, number, facts) => change(key, (entry) => withTake(entry, number, facts));
const finish = (key, isFinished = true) => change(key, (entry) => ({ ...entry, isFinished }));

// A page that is gone ends its takes no more: they end with their last chunk.
const endAll = (key) => change(key, (entry) => ({ ...entry, takes: entry.takes.map((take) => ({ ...take, isEnded: true })) }));

async function unsentKeys(start) {
  const kept = (await read((_, chunks) => chunks.getAllKeys(allFrom(start)))) ?? [];
  return [...new Set([...kept, ...[...memory.chunks.keys()].filter((key) => key.startsWith(start))])].sort();
}

const chunkOf = async (key) => memory.chunks.get(key) ?? read((_, chunks) => chunks.get(key));

async function dropChunks(some) {
  for (const key of some) memory.chunks.delete(key);
  await act("readwrite", (_, chunks) => { for (const key of some) chunks.delete(key); }).catch(() => {});
}

async function forget(key) {
  for (const each of [...memory.chunks.keys()]) if (each.startsWith(`${key}:`)) memory.chunks.delete(each);
  memory.entries.delete(key);
  went.delete(key);
  await act("readwrite", (entries, chunks) => { entries.delete(key); chunks.delete(allFrom(`${key}:`)); }).catch(() => {});
  if (!(await keys()).length) localStorage.removeItem(MARK);
  tellPage({ over: key });
}

// What is here is given up, knowingly: the site goes on with what it has, or by itself a day later.
async function discard(key) {
  const entry = await entryOf(key);
  if (entry?.isBegun) await ask(entry, `/recordings/${entry.recording}/finish/`, { as_it_is: true }).catch(() => {});
  await forget(key);
}

// How much of it is only here, in words; empty where nothing is.
async function left(key) {
  const count = (await unsentKeys(`${key}:`)).length;
  return { count, isHeldByPageAlone: [...memory.chunks.keys()].some((each) => each.startsWith(`${key}:`)), words: count ? `about ${lasting(count * CHUNK_S)}` : "" };
}

const lasting = (seconds) => (seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);
const tellPage = (detail = {}) => changed.dispatchEvent(new CustomEvent("change", { detail }));

// --- sending ---------------------------------------------------------------------------------------------------

class Halt extends Error {
  constructor(how) { super(how.is); this.how = how; }
}

// Asked of the site, and its answer; Halt where nothing more can be asked now.
async function ask(entry, address, body) {
  const answer = await fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": window.csrfToken() },
    body: JSON.stringify(body),
    redirect: "manual",
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).catch(() => null);
  if (!answer) throw new Halt({ is: "unreachable" });
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  if (answer.status === 409) throw new Halt({ is: said.error ?? "refused", words: said.message });
  if (answer.status === 503) throw new Halt({ is: "unreachable", words: said.message });
  throw new Halt(await marks.kindOf(entry.call, answer, said));
}

async function sendEntry(key) {
  const entry = await entryOf(key);
  if (!entry) return { is: "sent" };
  if (!entry.isBegun) await tellBeginning(key, entry);
  for (const { number } of entry.takes) await sendTake(key, number);
  return finishIfAll(key);
}

async function tellBeginning(key, entry) {
  const hasBegun = entry.takes.some((take) => take.count > 0);
  const body = { recording: entry.recording, consent_age_ms: Math.round(entry.consentAgeMs), has_begun: hasBegun };
  await ask(entry, `/calls/${entry.call}/recording/`, body);
  await change(key, (now) => ({ ...now, isBegun: true }));
}

// What the site is to know of a take: of one that goes on only that it began.
const factsOf = ({ number, mediaType, beganAtMs, hasTester, hasEmma, count, isEnded }) => (
  { number, media_type: mediaType, began_at_ms: beganAtMs, has_tester: hasTester, has_emma: hasEmma, chunk_count: isEnded ? count : null }
);

async function sendTake(key, number) {
  const told = async () => {
    const entry = await entryOf(key);
    const take = entry?.takes.find((each) => each.number === number);
    if (!take || take.isTold === (take.isEnded ? "ended" : "begun")) return;
    await ask(entry, `/recordings/${entry.recording}/takes/`, factsOf(take));
    await keepTake(key, number, { isTold: take.isEnded ? "ended" : "begun" });
  };
  await told();
  await sendChunks(key, number);
  await told();
}

async function sendChunks(key, take) {
  let sent = [];
  for (;;) {
    const batch = await nextChunks(key, take, sent);
    if (!batch.length && !sent.length) return;
    const { links, arrived, refused } = await tellChunks(key, take, batch, sent);
    await dropChunks(arrived.map((number) => chunkKey(key, take, number)));
    tellPage();
    if (sent.some((number) => !arrived.includes(number))) throw new Halt({ is: "unreachable" });
    if (refused.length) throw new Halt({ is: "refused", words: refused[0].why });
    sent = await putAll(batch.filter(({ number }) => links[number]), links);
  }
}

async function nextChunks(key, take, sent) {
  const without = sent.map((number) => chunkKey(key, take, number));
  const next = (await unsentKeys(chunkKey(key, take, "").slice(0, -6))).filter((each) => !without.includes(each));
  const found = await Promise.all(next.slice(0, CHUNKS_AT_ONCE).map(chunkOf));
  return found.filter(Boolean);
}

async function tellChunks(key, take, batch, sent) {
  const entry = await entryOf(key);
  if (!entry) throw new Halt({ is: "sent" });
  const announced = batch.map(({ number, size, sha256 }) => ({ number, size, sha256 }));
  return ask(entry, `/recordings/${entry.recording}/chunks/`, { take, announced, sent });
}

// The numbers of those that the store took. It may be away while the site is there, and the other way round.
async function putAll(batch, links) {
  const results = await Promise.all(batch.map((chunk) => put(links[chunk.number], chunk)));
  const sent = batch.filter((_, place) => results[place].isThere).map(({ number }) => number);
  if (batch.length && !sent.length) throw new Halt({ is: "unreachable", words: results[0].words });
  return sent;
}

async function put({ url, headers }, { bytes }) {
  const signal = AbortSignal.timeout(PATIENCE_WITH_A_CHUNK_MS);
  const answer = await fetch(url, { method: "PUT", headers, body: bytes, signal }).catch(() => null);
  if (answer?.ok) return { isThere: true };
  if (!answer) return { words: "Where recordings are kept can't be reached." };
  return { words: answer.status === 507 ? "Where recordings are kept there is no room left." : `Where recordings are kept did not take it (${answer.status}).` };
}

async function finishIfAll(key) {
  const entry = await entryOf(key);
  if (!entry) return { is: "sent" };
  const isAll = entry.takes.every((take) => take.isTold === "ended") && !(await left(key)).count;
  if (!isAll) return { is: "going on" };
  if (!entry.isFinished) return { is: "all here" };
  const address = `/recordings/${entry.recording}/finish/`;
  const { missing } = await ask(entry, address, {});
  if (missing.length) await ask(entry, address, { as_it_is: true }); // nothing of it is left here either
  await forget(key);
  return { is: "finished" };
}

// --- when ----------------------------------------------------------------------------------------------------------

let sending = null;
let isAskedAgain = false;
let failures = 0;
let freeAt = 0;
let timer = 0;

const sendIn = (waitMs) => { clearTimeout(timer); timer = setTimeout(send, waitMs); };
const holding = (key, what) => (navigator.locks ? navigator.locks.request(`emma-sending:${key}`, { ifAvailable: true }, (lock) => (lock ? what() : { is: "another tab" })) : what());

// Send what there is, unless it must wait; once at a time.
async function send() {
  const waitMs = freeAt - performance.now();
  if (isOver) return;
  if (waitMs > 0) return void sendIn(waitMs);
  isAskedAgain = Boolean(sending);
  sending ??= sendAll().finally(() => { sending = null; });
  await sending;
}

async function sendAll() {
  clearTimeout(timer);
  const hows = [];
  for (const key of await keys()) {
    const how = await holding(key, () => sendEntry(key)).catch((fault) => fault.how ?? { is: "unreachable" });
    if (await isNeedless(key, how)) await forget(key);
    else if (await entryOf(key)) went.set(key, how);
    hows.push(how);
  }
  plan(hows);
  tellPage();
}

// The site is done with it, and there is nothing left here; of one that was empty the site knows nothing any more.
async function isNeedless(key, { is }) {
  const entry = await entryOf(key);
  const isEmpty = entry?.isFinished && !entry.takes.length;
  return Boolean(entry) && (is === "over" || (is === "gone" && isEmpty)) && !(await left(key)).count;
}

function plan(hows) {
  const isStuck = hows.some(({ is }) => ["unreachable", "signed out", "gone", "refused"].includes(is));
  failures = isStuck ? failures + 1 : 0;
  const askedMs = Math.max(0, ...hows.map(({ waitMs = 0 }) => waitMs));
  const waitMs = isStuck ? Math.max(askedMs, Math.min(LONGEST_WAIT_MS, 1000 * 2 ** failures)) : 0;
  freeAt = performance.now() + waitMs;
  if (isStuck) sendIn(waitMs);
  else if (isAskedAgain) sendIn(0);
  else if (hows.some(({ is }) => is === "another tab")) sendIn(3_000);
  isAskedAgain = false;
}

function sendNow() {
  failures = 0;
  freeAt = 0;
  send();
}

// Signing out clears this browser's memory: what is still unsent is sent first, or given up knowingly.
async function mayBeCleared() {
  if (window.callRecorder?.isOn) {
    if (!confirm("This call is being recorded. Signing out ends its recording. Sign out all the same?")) return false;
    await window.callRecorder.stop();
  }
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  if (held.some(({ name }) => name.startsWith(`emma-recording:${own}`))) {
    alert("A call is being recorded in another tab. Stop its recording there, then sign out.");
    return false;
  }
  if (!(await keys()).length) return true;
  freeAt = 0;
  await send();
  const count = (await unsentKeys(own)).length;
  const words = `${lasting(count * CHUNK_S)} of a recording not sent yet. Signing out clears them from this browser. Sign out all the same?`;
  if (count && !confirm(`About ${words}`)) return false;
  isOver = true;
  for (const key of await keys()) await forget(key);
  return true;
}

window.keptRecordings = { changed, keyOf, keys, entryOf, begin, keepTake, keepChunk, finish, endAll, forget, discard, left, send, sendNow, sendEntry: (key) => holding(key, () => sendEntry(key)), mayBeCleared, how: (key) => went.get(key) };

// --- on the to-do page -----------------------------------------------------------------------------------------

async function showLeft() {
  const box = document.querySelector("[data-local-copies]");
  if (!box) return;
  const rows = await Promise.all((await keys()).map(rowOf));
  box.querySelectorAll("[data-left-recording]").forEach((row) => row.remove());
  box.querySelector("ul").append(...rows);
  box.hidden = !box.querySelector("li");
}

async function rowOf(key) {
  const { words: unsent } = await left(key);
  const row = document.createElement("li");
  row.className = "todo-row";
  row.dataset.leftRecording = key;
  const link = document.createElement("a");
  Object.assign(link, { href: `/calls/${key.split(":")[1]}/`, textContent: "The recording of a call" });
  const words = document.createElement("p");
  Object.assign(words, { className: "small quiet", textContent: unsent ? `${unsent[0].toUpperCase()}${unsent.slice(1)} not sent yet. It is sent as soon as the site can be reached.` : "All of it is sent, and it is not finished. Finish it beside its call." });
  row.append(link, words);
  return row;
}

addEventListener("online", sendNow);
if (document.querySelector("[data-local-copies]")) {
  changed.addEventListener("change", showLeft);
  showLeft();
}
if (!document.querySelector("[data-recorder]")) send();
