// Sends a recording in parts, straight to where recordings are kept. The site only hands out a link for each part.
//
// Each part is read and hashed in the page, and its link is good for these very bytes. Whatever goes wrong with a part,
// it is sent again by a fresh link, after a while. The same file chosen again goes on where it was: the site says which
// parts are there, and those are compared with the file before they are left out.

const form = document.querySelector("[data-uploader]");
const part = (name) => document.querySelector(`[data-${name}]`);

const LANES = 4;
const MOST_ROUNDS = 5; // of sending again what did not arrive as it was sent
const FIRST_WAIT_MS = 1000;
const AGAIN_AFTER_MS = 1500; // some servers tell two of one part apart by the second that they came in
const LONGEST_WAIT_MS = 30_000;
const STALLED_MS = 45_000;
const SPEED_OVER_MS = 10_000;
const SPEED_AFTER_MS = 2000;
const SHOW_EVERY_MS = 500;
const SPEAK_EVERY_PERCENT = 10;
const SET_BY_THE_BROWSER = new Set(["content-length", "host"]);

// What went wrong: in words, whether to give up, and how long the other side asks us to wait.
class Fault extends Error {
  constructor(words, { isFinal = false, waitMs = 0, pauses = false, error = "", numbers = [] } = {}) {
    super(words);
    Object.assign(this, { isFinal, waitMs, pauses, error, numbers });
  }
}

// --- words ----------------------------------------------------------------------------------------------

function sizeInWords(bytes) {
  if (bytes < 1024 ** 2) return `${Math.ceil(bytes / 1024)} KB`; // as the site's own pages count them
  if (bytes < 1024 ** 3) return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
  return `${(bytes / 1024 ** 3).toFixed(2)} GB`;
}

const counted = (count, unit) => `${count} ${unit}${count === 1 ? "" : "s"}`;

// Rounded so that it does not flicker: nobody waits by the second.
function timeInWords(seconds) {
  if (seconds < 8) return "a few seconds left";
  if (seconds < 55) return `about ${Math.ceil(seconds / 10) * 10} seconds left`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `about ${counted(minutes, "minute")} left`;
  const tens = Math.round(minutes / 10) * 10;
  const rest = tens % 60 ? ` ${tens % 60} minutes` : "";
  return `about ${counted(Math.floor(tens / 60), "hour")}${rest} left`;
}

function wordsOfStatus(status) {
  if (status === 0) return "The connection to where recordings are kept broke off.";
  if (status === 507) return "There is no room left where recordings are kept. Tell an administrator.";
  if (status === 403 || status === 410) return "A link was over before its part was sent.";
  if (status >= 500 || status === 429) return `Where recordings are kept is too busy or not well (it answers ${status}).`;
  return `A part did not arrive as it was sent (${status}).`;
}

// --- bytes ----------------------------------------------------------------------------------------------

const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
// The browser hashes beside the page's own thread, so the page stays quick.
const sha256 = async (bytes) => hex(await crypto.subtle.digest("SHA-256", bytes));
const fingerprintOf = (file) => sha256(new TextEncoder().encode(`${file.name}\n${file.size}\n${file.lastModified}`));

async function digestOf(digests) {
  const bytes = new Uint8Array(digests.length * 32);
  digests.forEach((each, place) => bytes.set(each.match(/../g).map((pair) => parseInt(pair, 16)), place * 32));
  return `${await sha256(bytes)}-${digests.length}`;
}

const GONE = "The file can’t be read any more: it was changed, moved or removed. Choose it again.";
const spare = []; // memory that parts were read into, for the next ones: new memory costs more than reading

let reading = Promise.resolve();

// One piece after the other: the first is on its way while the next is read, and memory for few is enough.
function digestOfPiece(piece) {
  const digest = reading.then(async () => {
    const memory = await read(piece);
    const made = await sha256(new Uint8Array(memory, 0, piece.size));
    spare.push(memory);
    return made;
  });
  reading = digest.catch(() => {});
  return digest;
}

async function read(piece) {
  let memory = spare.pop();
  if (!memory || memory.byteLength < piece.size) memory = new ArrayBuffer(piece.size);
  try {
    const reader = bytesOf(piece);
    if (!reader) return await piece.arrayBuffer();
    for (let filled = 0; filled < piece.size;) {
      const { done, value } = await reader.read(new Uint8Array(memory, filled, piece.size - filled));
      if (done) throw new Error("The file ended early.");
      memory = value.buffer;
      filled += value.byteLength;
    }
    return memory;
  } catch {
    throw new Fault(GONE, { isFinal: true });
  }
}

// Some browsers can't read a file into memory that they are given.
function bytesOf(piece) {
  try {
    return piece.stream().getReader({ mode: "byob" });
  } catch {
    return undefined;
  }
}

// --- what is asked of the site ----------------------------------------------------------------------------

async function ask(address, said) {
  let answer;
  try {
    answer = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": window.csrfToken() },
      body: JSON.stringify(said),
      redirect: "manual",
    });
  } catch {
    throw new Fault("The site can’t be reached just now.");
  }
  if (answer.type === "opaqueredirect" || [401, 403].includes(answer.status)) {
    throw new Fault("You are signed out. Sign in again in another tab, then go on here.", { pauses: true });
  }
  const told = await answer.json().catch(() => ({}));
  if (answer.ok) return told;
  throw new Fault(told.message ?? `The site answered ${answer.status}.`, {
    isFinal: answer.status < 500 && answer.status !== 429 && told.error !== "missing",
    waitMs: 1000 * Number(answer.headers.get("Retry-After") ?? 0),
    error: told.error ?? "",
    numbers: told.numbers ?? [],
  });
}

// --- one part, by one link --------------------------------------------------------------------------------

// `underWay` holds what can be broken off; `tell` is told how many bytes are gone. Gives the ETag, if it is shown to us.
function put(link, piece, underWay, tell) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let timer = 0;
    let why = "";
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => { why = "Where recordings are kept takes too long to answer."; request.abort(); }, STALLED_MS);
    };
    const end = () => { clearTimeout(timer); underWay.delete(request); };
    const fail = (fault) => { end(); tell(0); reject(fault); };
    request.open("PUT", link.url);
    for (const [name, value] of Object.entries(link.headers)) {
      if (!SET_BY_THE_BROWSER.has(name.toLowerCase())) request.setRequestHeader(name, value);
    }
    request.upload.onprogress = (event) => { wait(); tell(event.loaded); };
    request.onload = () => {
      if (request.status < 200 || request.status > 299) { fail(new Fault(wordsOfStatus(request.status))); return; }
      end();
      resolve(request.getResponseHeader("ETag") ?? "");
    };
    request.onerror = () => fail(new Fault(wordsOfStatus(0)));
    request.onabort = () => fail(new Fault(why));
    underWay.add(request);
    wait();
    request.send(piece);
  });
}

// --- the whole file ---------------------------------------------------------------------------------------

// `shown` is told what happens: sent(bytes, is_resumed), waits(words), goes().
function sending(file, begun, shown) {
  const digests = Array(begun.part_count).fill("");
  const gone = new Map(); // bytes of each part that are on their way or there
  const underWay = new Set();
  let queue = digests.map((_, place) => place + 1);
  let arrived = [];
  let isPaused = false;
  let isOver = false;
  let wake = [];

  const tell = (number, bytes, isThere = false) => {
    gone.set(number, bytes);
    shown.sent([...gone.values()].reduce((sum, each) => sum + each, 0), isThere ? bytes : 0);
  };
  const rest = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); wake.push(resolve); });
  const wakeAll = () => { const all = wake; wake = []; all.forEach((resolve) => resolve()); };
  const whenGoing = async () => { while (isPaused && !isOver) await rest(LONGEST_WAIT_MS); };

  async function send(number) {
    const from = (number - 1) * begun.part_size;
    const piece = file.slice(from, Math.min(file.size, from + begun.part_size));
    const digest = await digestOfPiece(piece);
    digests[number - 1] = digest;
    if (begun.arrived[number] === digest) { tell(number, piece.size, true); return; }
    const noted = arrived.splice(0, 16);
    let link;
    try {
      link = (await ask(begun.parts, { ask: [{ number, sha256: digest }], arrived: noted })).links[number];
    } catch (fault) {
      arrived.push(...noted);
      throw fault;
    }
    if (isPaused || isOver) throw new Fault("");
    // Of the file itself: bytes of the page would go through more hands, at a third of the pace. Were it changed since,
    // the link would not be good for it.
    const etag = await put(link, piece, underWay, (sent) => tell(number, sent));
    tell(number, piece.size);
    arrived.push({ number, sha256: digest, etag });
    begun.arrived[number] = digest;
  }

  // Again and again, until it is there or somebody gives up.
  async function surely(act) {
    for (let tries = 1; !isOver; ) {
      await whenGoing();
      if (isOver) return undefined;
      try {
        const told = await act();
        shown.goes();
        return told;
      } catch (fault) {
        if (!(fault instanceof Fault) || fault.isFinal || fault.error === "missing") throw fault;
        if (isPaused || isOver || !fault.message) continue;
        if (fault.pauses) { pause(); shown.waits(fault.message, true); continue; }
        const waitMs = Math.max(fault.waitMs, Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)) * (0.75 + Math.random() / 2));
        shown.waits(`${fault.message} Nothing is lost: it is tried again in ${counted(Math.ceil(waitMs / 1000), "second")}.`);
        await rest(waitMs);
        tries += 1;
      }
    }
    return undefined;
  }

  async function lane() {
    for (let number = queue.shift(); number && !isOver; number = queue.shift()) {
      const it = number;
      await surely(() => send(it));
    }
  }

  async function finish() {
    const digest = await digestOf(digests);
    for (let noted = arrived.splice(0, 16); noted.length; noted = arrived.splice(0, 16)) {
      const some = noted;
      await surely(() => ask(begun.parts, { ask: [], arrived: some }));
    }
    return surely(() => ask(begun.finish, { digest }));
  }

  // The address of the recording's page; nothing where it was given up.
  async function whole() {
    let rounds = 0;
    while (!isOver) {
      await Promise.all(Array.from({ length: LANES }, lane));
      if (isOver) break;
      try {
        return (await finish())?.page;
      } catch (fault) {
        if (fault.error !== "missing" || (rounds += 1) > MOST_ROUNDS) throw fault;
        shown.waits(fault.message);
        await rest(AGAIN_AFTER_MS);
        queue = [...fault.numbers];
        for (const number of queue) { delete begun.arrived[number]; tell(number, 0); }
      }
    }
    return undefined;
  }

  const breakOff = () => { for (const request of [...underWay]) request.abort(); };
  function pause() { isPaused = true; breakOff(); }
  function resume() { isPaused = false; wakeAll(); }
  function stop() { isOver = true; breakOff(); wakeAll(); }
  addEventListener("online", () => { if (!isPaused) wakeAll(); });
  return { whole, pause, resume, stop, isPaused: () => isPaused };
}

// --- what is shown ----------------------------------------------------------------------------------------

function showing(file) {
  const samples = []; // [when, bytes that were sent by this page]
  let sent = 0;
  let resumed = 0;
  let spokenPercent = 0;
  let shownWait = false;

  const speed = () => {
    const now = performance.now();
    samples.push([now, sent - resumed]);
    while (samples.length > 2 && now - samples[0][0] > SPEED_OVER_MS) samples.shift();
    const [since, before] = samples[0];
    return now - since < SPEED_AFTER_MS ? 0 : Math.max(0, (1000 * (sent - resumed - before)) / (now - since));
  };
  const speak = (words) => { part("spoken").textContent = words; };
  const figures = () => {
    const percent = Math.floor((100 * sent) / file.size);
    const rate = speed();
    const isGoing = rate > 1000 && !shownWait;
    const left = isGoing ? timeInWords((file.size - sent) / rate) : "";
    part("bar").value = Math.floor((1000 * sent) / file.size);
    part("percent").textContent = `${percent} %`;
    const words = [`${sizeInWords(sent)} of ${sizeInWords(file.size)}`, isGoing ? `${sizeInWords(rate)} a second` : "", left];
    part("figures").textContent = sent < file.size ? words.filter(Boolean).join(" · ") : "All is sent. The site looks whether all is there.";
    if (percent >= spokenPercent + SPEAK_EVERY_PERCENT && percent < 100) {
      spokenPercent = percent - (percent % SPEAK_EVERY_PERCENT);
      speak(`${percent} percent sent${left ? `, ${left}` : ""}.`);
    }
  };
  const timer = setInterval(figures, SHOW_EVERY_MS);

  function state(words) {
    shownWait = Boolean(words);
    part("progress").classList.toggle("is-waiting", shownWait);
    part("state").hidden = !shownWait;
    if (part("state").textContent === words) return;
    part("state").textContent = words;
    if (words) speak(words);
  }
  return {
    sent: (bytes, isThere) => { sent = bytes; resumed += isThere; },
    waits: (words, isPaused = false) => { state(words); if (isPaused) part("pause").textContent = "Go on"; },
    goes: () => { if (shownWait && part("pause").textContent === "Pause") { state(""); speak("It goes on."); } },
    state,
    speak,
    figures,
    end: () => clearInterval(timer),
  };
}

// --- the form ---------------------------------------------------------------------------------------------

const endings = new Set(form.dataset.endings.split(" "));
const input = document.getElementById("file");
let chosen = null;

function faultOfFile(file) {
  const ending = file.name.includes(".") ? file.name.split(".").pop().toLowerCase() : "";
  if (!endings.has(ending)) return `This is no kind of recording that the site plays. It takes ${[...endings].join(", ")} files.`;
  if (file.size === 0) return "This file is empty: it has 0 bytes. Was the recording saved before its program was closed?";
  if (file.size > Number(form.dataset.most)) return "This file is larger than 4 GB, which is the most. Cut it, or save it with a lower quality.";
  return "";
}

function showFault(field, words) {
  const place = form.querySelector(`[data-field="${field}"]`);
  place.classList.toggle("wrong", Boolean(words));
  place.querySelector("[data-error]").textContent = words;
  const control = place.querySelector("input");
  words ? control.setAttribute("aria-invalid", "true") : control.removeAttribute("aria-invalid");
  control.setAttribute("aria-describedby", words ? `${field}-error` : `${field}-hint`);
}

function summarize(faults, title = "The upload can’t begin yet") {
  const summary = part("faults");
  summary.querySelector("h2").textContent = title;
  summary.hidden = !faults.length;
  const list = document.createElement("ul");
  list.append(...faults.map(([field, words]) => {
    const item = document.createElement("li");
    const link = Object.assign(document.createElement("a"), { href: `#${field}`, textContent: words });
    item.append(link);
    return item;
  }));
  summary.querySelector("ul")?.remove();
  summary.append(list);
  if (faults.length) summary.focus();
}

// One at a time: of several files that are dropped at once the first is taken, and that is said.
function choose(files) {
  chosen = files[0] ?? null;
  part("others").hidden = files.length < 2;
  part("others").textContent = files.length < 2 ? "" : `It is the first of ${files.length} files. Upload the others after it, one by one: a call may have several recordings.`;
  part("drop").classList.toggle("has-file", Boolean(chosen));
  part("chosen").textContent = chosen ? `${chosen.name}, ${sizeInWords(chosen.size)}` : "Drop it here, or choose it.";
  showFault("file", chosen ? faultOfFile(chosen) : "");
  letGoOfSummary();
}

// Once nothing that it names is left to mend.
function letGoOfSummary() {
  if (!form.querySelector(".wrong")) part("faults").hidden = true;
}

function faultsOfForm() {
  const found = [];
  const ofFile = chosen ? faultOfFile(chosen) : "Choose the file of the recording.";
  if (ofFile) found.push(["file", ofFile]);
  if (!document.getElementById("consent").checked) found.push(["consent", "Confirm that everybody in the recording agreed to being recorded."]);
  for (const field of ["file", "consent"]) showFault(field, found.find(([each]) => each === field)?.[1] ?? "");
  summarize(found);
  return found.length > 0;
}

async function begin(file) {
  const [fingerprint, consent] = [await fingerprintOf(file), document.getElementById("consent").checked];
  const said = { name: file.name, size: file.size, media_type: file.type, fingerprint, sides: form.elements.sides.value, has_consent: consent };
  return ask(location.href, said);
}

const warn = (event) => event.preventDefault();

let upload = null; // the one that runs
let shown = null;

async function run(file) {
  let begun;
  try {
    begun = await begin(file);
  } catch (fault) {
    showFault("file", fault.message);
    summarize([["file", fault.message]]);
    return;
  }
  showSending(file, begun);
  try {
    const page = await upload.whole();
    if (!page) return;
    removeEventListener("beforeunload", warn);
    shown.figures();
    shown.speak("The recording is here.");
    location.assign(page);
  } catch (fault) {
    upload.stop();
    removeEventListener("beforeunload", warn);
    showForm(fault instanceof Fault ? fault.message : `The upload broke off: ${fault.message}`);
  } finally {
    shown.end();
  }
}

function showSending(file, begun) {
  form.hidden = true;
  part("unfinished")?.remove();
  part("progress").hidden = false;
  part("name").textContent = file.name;
  part("pause").textContent = "Pause";
  part("drop-form").action = begun.drop;
  document.getElementById("sending").focus();
  shown = showing(file);
  shown.state("");
  upload = sending(file, begun, shown);
  const there = Object.keys(begun.arrived).length;
  if (there) shown.speak(`Going on: ${there} of ${begun.part_count} parts are here already.`);
  addEventListener("beforeunload", warn);
}

// What can't go on by itself is begun again here: the file is chosen anew, and what arrived of it stays.
function showForm(words) {
  part("progress").hidden = true;
  form.hidden = false;
  input.value = ""; // the same file can be chosen once more
  choose([]);
  showFault("file", words);
  summarize([["file", words]], "The upload broke off");
}

part("drop-form").addEventListener("submit", (event) => {
  if (!confirm("What is sent of this file is removed. Cancel the upload?")) { event.preventDefault(); return; }
  removeEventListener("beforeunload", warn);
  upload.stop();
});
part("pause").addEventListener("click", () => {
  const isPaused = upload.isPaused();
  part("pause").textContent = isPaused ? "Pause" : "Go on";
  if (!isPaused) { upload.pause(); shown.state("Paused. What is sent stays sent."); return; }
  shown.state("");
  shown.speak("It goes on.");
  upload.resume();
});
input.addEventListener("change", () => choose(input.files));
document.getElementById("consent").addEventListener("change", ({ target }) => {
  if (target.checked) showFault("consent", "");
  letGoOfSummary();
});
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
part("drop").addEventListener("dragover", () => part("drop").classList.add("is-over"));
part("drop").addEventListener("dragleave", () => part("drop").classList.remove("is-over"));
part("drop").addEventListener("drop", (event) => {
  part("drop").classList.remove("is-over");
  const { files } = event.dataTransfer;
  if (!files.length) return;
  const taken = new DataTransfer(); // so that the field names what is taken, as if it had been chosen there
  taken.items.add(files[0]);
  input.files = taken.files;
  choose(files);
});
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (faultsOfForm()) return;
  if (!globalThis.crypto?.subtle) {
    summarize([["file", "This browser checks files only over https. Open the site by its https address."]]);
    return;
  }
  const button = form.querySelector("[type=submit]");
  button.disabled = true;
  await run(chosen);
  button.disabled = false;
});
