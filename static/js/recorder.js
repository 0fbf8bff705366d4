// Recording a call beside it: a screen or tab with its sound, and the microphone, as one recording whose left side is
// the tester and whose right side is Emma. What comes is kept in this browser at once, a few seconds at a time, and sent
// from there (window.keptRecordings); this file is the hand on it. The call page gives the call clock.

const root = document.querySelector("[data-recorder]");
const part = (name, within = root) => within.querySelector(`[data-rec-${name}]`);
const parts = (name) => [...document.querySelectorAll(`[data-rec-${name}]`)];
const page = window.callPage;
const kept = window.keptRecordings;
const { call } = document.querySelector("[data-call]").dataset;

const CHUNK_MS = 4_000; // with what is on its way, less than ten seconds are lost where a machine dies
const VIDEO_BITS_A_SECOND = 1_500_000;
const SOUND_BITS_A_SECOND = 128_000; // below a third of this Opus would begin to mix the two sides
const TESTER = 0; // left
const EMMA = 1; // right
const QUIETEST_DB = -60; // what is below it all the time is no sound of anybody
const SILENT_FOR_MS = 20_000;
const METERS_EVERY_MS = 100;
const SITE_ANSWERS_WITHIN_MS = 3_000; // a call is not kept waiting for longer
const REST_MS = 400; // longer than two taps of one finger are apart
const ENDS_TOGETHER_WITHIN_MS = 1_000; // the sound and the picture of what was shared
const MEDIA_TYPES = ["video/webm;codecs=vp8,opus", "video/webm;codecs=vp9,opus", "video/webm", "video/mp4"]; // VP8 first: it costs the call least

// Chromium notes here that the page may not use the camera. It asks for none: the note comes with any picture, and changes
// nothing.
const SHARED = {
  video: { frameRate: { max: 30 }, width: { max: 1280 }, height: { max: 720 } },
  audio: { suppressLocalAudioPlayback: false, echoCancellation: false, noiseSuppression: false, autoGainControl: false },
  systemAudio: "include",
  surfaceSwitching: "include",
  selfBrowserSurface: "exclude",
};
// Emma's voice from a loudspeaker must not come in on the tester's side, so echo is cancelled. Nothing else is done to the
// voice: cleaning and levelling it would move where speech begins and ends.
const MICROPHONE = { audio: { echoCancellation: true, noiseSuppression: false, autoGainControl: false, channelCount: 1 } };

const setText = (element, words) => { if (element && element.textContent !== words) element.textContent = words; };

let state = "waking"; // idle, consent, asking, armed, on, off, finishing, elsewhere, unable
let key = null; // of what is being recorded
let take = null; // the take that runs
let sound = null; // the two sides, joined
let shared = null;
let microphone = null;
let release = null; // lets another tab record
let recordedMs = 0; // of the takes before
let says = "";
let agreedAt = 0;
let stopping = null; // a take on its way to its end
let restsUntil = 0;
let isHeldHereAlone = false; // what this browser could not keep goes with the page

// --- the two sides ---------------------------------------------------------------------------------------------

// Each side is brought to one channel, measured, and put on its own side of the recording.
class TwoSides {
  constructor() {
    this.context = new AudioContext({ sampleRate: 48_000, latencyHint: "interactive" });
    this.out = new MediaStreamAudioDestinationNode(this.context, { channelCount: 2, channelCountMode: "explicit", channelInterpretation: "discrete" });
    this.merger = new ChannelMergerNode(this.context, { numberOfInputs: 2 });
    this.merger.connect(this.out);
    this.sides = [this.#side(TESTER), this.#side(EMMA)];
    this.context.resume();
  }

  #side(place) {
    const mono = new GainNode(this.context, { channelCount: 1, channelCountMode: "explicit" });
    const meter = new AnalyserNode(this.context, { fftSize: 32_768 }); // two thirds of a second: none is missed where timers are slowed
    mono.connect(this.merger, 0, place);
    mono.connect(meter);
    return { mono, meter, samples: new Float32Array(meter.fftSize), source: null, heardAt: performance.now(), wasHeard: false };
  }

  put(place, stream) {
    const side = this.sides[place];
    side.source?.disconnect();
    side.source = stream?.getAudioTracks().length ? new MediaStreamAudioSourceNode(this.context, { mediaStream: stream }) : null;
    side.source?.connect(side.mono);
    side.heardAt = performance.now();
  }

  isThere(place) {
    return Boolean(this.sides[place].source);
  }

  // How loud a side is, from 0 to 100 over sixty decibels; the last tenth of a second, or what passed since one looked.
  measure(place) {
    const side = this.sides[place];
    side.meter.getFloatTimeDomainData(side.samples);
    const loudest = (from) => { let most = 0; for (let at = from; at < side.samples.length; at += 1) most = Math.max(most, Math.abs(side.samples[at])); return 20 * Math.log10(most || 1e-9); };
    if (loudest(0) > QUIETEST_DB + 10) Object.assign(side, { heardAt: performance.now(), wasHeard: true });
    return Math.max(0, Math.min(100, (1 - loudest(side.samples.length - 4_800) / QUIETEST_DB) * 100));
  }

  silentForMs(place) {
    return performance.now() - this.sides[place].heardAt;
  }

  hears(place) {
    return this.isThere(place) && this.sides[place].wasHeard;
  }

  // A new take is heard anew.
  forget() {
    for (const side of this.sides) Object.assign(side, { heardAt: performance.now(), wasHeard: false });
  }

  close() {
    this.context.close();
  }
}

// --- a take ------------------------------------------------------------------------------------------------------

// One run of the browser's recorder. Chunks get their numbers as they come and are kept one after the other, so what
// is kept never has a hole.
class OneTake {
  #recorder;
  #queue = Promise.resolve();
  #count = 0;

  constructor(stream, number) {
    this.number = number;
    this.mediaType = MEDIA_TYPES.find((type) => MediaRecorder.isTypeSupported(type));
    this.#recorder = new MediaRecorder(stream, { mimeType: this.mediaType, videoBitsPerSecond: VIDEO_BITS_A_SECOND, audioBitsPerSecond: SOUND_BITS_A_SECOND });
    this.ended = new Promise((resolve) => {
      this.#recorder.onstop = () => { this.#queue = this.#queue.then(() => kept.keepTake(key, number, { ...this.facts(), isEnded: true })).then(resolve, resolve); };
    });
    this.#recorder.ondataavailable = ({ data }) => this.#take(data);
    this.#recorder.onerror = ({ error }) => { stopTake(`The browser stopped recording (${error?.name ?? "no reason given"}). What was recorded until then is kept.`); };
  }

  // It begins with this call, whenever the browser comes to say so: encoding may lag behind by seconds, what it encodes not.
  begin() {
    this.beganAt = performance.now();
    this.beganAtMs = Math.round(page.clock.read(this.beganAt));
    this.#recorder.start(CHUNK_MS);
    return kept.keepTake(key, this.number, { mediaType: this.mediaType, beganAtMs: this.beganAtMs, ...this.facts() });
  }

  // While it runs, a side counts as recorded that is there; in the end only one that was heard.
  facts() {
    const isOver = this.#recorder.state === "inactive";
    const has = (place) => (isOver ? sound.hears(place) : sound.isThere(place));
    return { hasTester: has(TESTER), hasEmma: has(EMMA), consentAgeMs: agreedAt ? performance.now() - agreedAt : undefined };
  }

  #take(data) {
    if (!data.size) return;
    const number = this.#count;
    this.#count += 1;
    this.#queue = this.#queue.then(async () => {
      const isThere = await kept.keepChunk(key, this.number, number, await data.arrayBuffer(), { mediaType: this.mediaType, beganAtMs: this.beganAtMs, ...this.facts() });
      if (!isThere) say("This browser can't keep more: its disk is full, or it is not allowed to. What is recorded is held by this page alone until it is sent, so leave the page open.");
    });
  }

  get lastsMs() {
    return (this.endedAt ?? performance.now()) - this.beganAt;
  }

  end() {
    this.endedAt ??= performance.now();
    if (this.#recorder.state !== "inactive") this.#recorder.stop();
    return this.ended;
  }
}

// --- from the press to the recording -------------------------------------------------------------------------------

const isAble = () => Boolean(navigator.mediaDevices?.getDisplayMedia && window.MediaRecorder && window.AudioContext && window.indexedDB && window.crypto?.subtle && MEDIA_TYPES.some((type) => MediaRecorder.isTypeSupported(type)));

const LOCK = `emma-recording:${kept.keyOf(call, "")}`;
// One tab of this browser records the call. Resolves to false where another one does.
function takeHold() {
  if (release) return Promise.resolve(true);
  if (!navigator.locks) { release = () => {}; return Promise.resolve(true); }
  return new Promise((resolve) => {
    navigator.locks.request(LOCK, { ifAvailable: true }, (lock) => {
      if (!lock) { waitForTheOther(); return void resolve(false); }
      return new Promise((go) => { release = go; resolve(true); });
    });
  });
}

// The other tab stops, or is closed: then this one looks again.
let isWaiting = false;
async function waitForTheOther() {
  if (isWaiting || !navigator.locks) return;
  isWaiting = true;
  await navigator.locks.request(LOCK, () => { isWaiting = false; });
  if (state === "elsewhere") await resume();
}

function letGo() {
  release?.();
  release = null;
}

const WHY_NOT_SHARED = {
  NotAllowedError: "Nothing is recorded: nothing was chosen to be shared, or the browser was not allowed to share it.",
  NotFoundError: "Nothing is recorded: this browser found no screen or tab to share.",
  NotReadableError: "Nothing is recorded: the system does not let this browser see the screen. Allow it in the system's privacy settings.",
};
const WHY_NO_MICROPHONE = {
  NotAllowedError: "the browser was not allowed to use the microphone",
  NotFoundError: "there is no microphone",
  NotReadableError: "another program holds the microphone",
};

const SHARING_ENDED = "Sharing was stopped in the browser's own bar, or what was shared was closed.";
const CALL_ENDED = "Nothing is recorded: the call ended before.";

async function record() {
  if (["asking", "armed", "on"].includes(state)) return undefined;
  go("asking");
  await stopping;
  if (!await takeHold()) return go("elsewhere");
  try {
    shared = await navigator.mediaDevices.getDisplayMedia(SHARED);
  } catch (fault) {
    return giveUp(WHY_NOT_SHARED[fault.name] ?? `Nothing is recorded: the browser says ${fault.name}.`);
  }
  sound = new TwoSides();
  sound.put(EMMA, shared);
  await connectMicrophone();
  for (const track of shared.getTracks()) track.addEventListener("ended", () => lost(track));
  if (!await beginOnSite()) return undefined;
  if (page.state() === "ended") return giveUp(CALL_ENDED);
  if (shared.getVideoTracks()[0].readyState === "ended") return giveUp(`${SHARING_ENDED} Nothing is recorded.`); // while the browser asked for the microphone
  return page.state() === "during" ? startTake() : go("armed");
}

async function connectMicrophone() {
  try {
    const heard = await navigator.mediaDevices.getUserMedia(MICROPHONE);
    if (!sound) return void heard.getTracks().forEach((track) => track.stop()); // nothing is recorded any more
    microphone = heard;
    microphone.getAudioTracks()[0].addEventListener("ended", () => lostMicrophone("the microphone was unplugged or taken away"));
    sound.put(TESTER, microphone);
    whyNoMicrophone = "";
  } catch (fault) {
    lostMicrophone(WHY_NO_MICROPHONE[fault.name] ?? `the browser says ${fault.name}`);
  }
  show();
}

let whyNoMicrophone = "";
function lostMicrophone(why) {
  microphone = null;
  sound?.put(TESTER, null);
  whyNoMicrophone = why;
  show();
}

function lost(track) {
  if (track.kind === "video") return void stopTake(`${SHARING_ENDED} ${state === "on" ? "What was recorded until then is kept." : "Nothing is recorded."}`);
  setTimeout(() => {
    if (shared?.getVideoTracks()[0].readyState === "live") sound.put(EMMA, null);
    show();
  }, ENDS_TOGETHER_WITHIN_MS);
}

// The recording that was begun goes on; there is a new one only where there is none. Offline it begins here alone.
async function beginOnSite() {
  key ??= await kept.begin(call, crypto.randomUUID(), performance.now() - agreedAt);
  await kept.finish(key, false);
  try {
    await Promise.race([kept.sendEntry(key), new Promise((goOn) => { setTimeout(goOn, SITE_ANSWERS_WITHIN_MS); })]);
  } catch ({ how }) {
    const { takes } = await kept.entryOf(key);
    if (how && ["elsewhere", "refused", "gone", "over"].includes(how.is) && !takes.length) {
      const refused = key;
      key = null;
      await kept.forget(refused);
      giveUp(how.words ?? "The site does not open this call to whoever is signed in now. Nothing is recorded.", how.is === "elsewhere" ? "elsewhere" : "idle");
      return false;
    }
  }
  return true;
}

async function startTake() {
  sound.forget();
  const { takes } = await kept.entryOf(key);
  const stream = new MediaStream([...shared.getVideoTracks(), ...sound.out.stream.getAudioTracks()]);
  take = new OneTake(stream, Math.max(0, ...takes.map(({ number }) => number)) + 1);
  let isTold;
  try {
    isTold = take.begin();
  } catch (fault) {
    take = null;
    return giveUp(`Nothing is recorded: the browser can't record what was shared (${fault.name}).`);
  }
  say("");
  go("on");
  speak("Recording.");
  await isTold;
  return kept.send();
}

async function stopTake(words = "") {
  if (state === "armed") return giveUp(words);
  if (state !== "on") return;
  say(words);
  stopping = endOf(take);
  restsUntil = performance.now() + REST_MS;
  go("off");
  speak(`Recording stopped. ${words}`);
  await stopping;
  stopping = null;
  channel?.postMessage("off");
  kept.sendNow();
  show();
}

async function endOf(ending) {
  await ending.end();
  recordedMs += ending.lastsMs;
  take = null;
  closeAll();
  letGo();
}

function closeAll() {
  for (const track of [...(shared?.getTracks() ?? []), ...(microphone?.getTracks() ?? [])]) track.stop();
  sound?.close();
  shared = microphone = sound = null;
}

async function giveUp(words, then = null) {
  closeAll();
  letGo();
  say(words);
  speak(words);
  const entry = key && await kept.entryOf(key);
  if (entry && !entry.takes.length) await letSiteForget();
  go(then ?? (key ? "off" : "idle"));
}

// Of a recording that was begun and has nothing in it the site keeps nothing.
async function letSiteForget() {
  const empty = key;
  key = null;
  await kept.finish(empty);
  kept.sendNow();
}

// That is all of this call: once everything is there, the site makes the recording ready.
async function finish() {
  if (!key) return;
  go("finishing");
  await kept.finish(key);
  kept.sendNow();
}

// The call is over: so is its recording. The page is not left before the last of it is kept in this browser.
async function finishWithTheCall() {
  if (state === "consent") ACTS["not-now"]();
  if (state === "armed") await giveUp(CALL_ENDED);
  if (state === "on") await stopTake();
  if (state === "off") await finish();
  while (key && (await kept.left(key)).isHeldByPageAlone) await new Promise((goOn) => { kept.changed.addEventListener("change", goOn, { once: true }); });
}

let isHolding = false;
document.addEventListener("call:state", async ({ detail }) => {
  if (detail === "during" && state === "armed") return startTake();
  if (detail !== "ended") return show();
  isHolding = true;
  await finishWithTheCall().catch(() => {});
  isHolding = false;
  return page.leaveIfDone();
});
window.callRecorder = { get isHolding() { return isHolding; }, get isOn() { return state === "on"; }, stop: () => stopTake() };

// --- another tab, and an earlier page -----------------------------------------------------------------------------

const channel = "BroadcastChannel" in window ? new BroadcastChannel(LOCK) : null;
channel?.addEventListener("message", ({ data }) => {
  if (data === "on" && state === "idle") go("elsewhere");
  if (data === "off" && state === "elsewhere") resume();
});

// What an earlier page of this call left: its takes end where it was closed, and it goes on from there.
async function resume() {
  if (!await takeHold()) return go("elsewhere");
  const found = await Promise.all((await kept.keys(call)).map(async (each) => ({ key: each, ...await kept.entryOf(each) })));
  const entry = found.find(({ isFinished }) => !isFinished) ?? found.at(-1);
  const brokeOff = entry?.takes.some((each) => !each.isEnded);
  if (brokeOff) await kept.endAll(entry.key);
  letGo();
  if (!entry) return go("idle");
  key = entry.key;
  recordedMs = 0;
  if (entry.isFinished) go("finishing");
  else if (page.state() === "ended") await finish();
  else { go("off"); say(brokeOff ? "Recording broke off when its page was closed. What was recorded until then is kept." : ""); }
  kept.sendNow();
}

// --- showing -----------------------------------------------------------------------------------------------------------

const say = (words) => { says = words; setText(part("says"), words); part("says").hidden = !words; };
const speak = (words) => setText(part("speaks"), words);
const title = document.title;
const icon = document.querySelector("link[rel=icon]");
const usualIcon = icon?.href;

function go(next) {
  state = next;
  if (["asking", "armed", "on"].includes(state)) channel?.postMessage("on");
  show();
}

const TITLES = { consent: "Before you record", asking: "Choose what to share", armed: "Ready to record", on: "Recording", off: "Recording stopped", finishing: "Recording finished", elsewhere: "Recorded in another tab" };

// What is pressed goes with its state: the keyboard goes on with what came in its place.
function keepFocus(held) {
  if (held.checkVisibility()) return;
  const next = [...root.querySelectorAll("[data-rec-act]")].find((button) => button.checkVisibility());
  (next ?? part("title")).focus();
}

function show() {
  const held = root.contains(document.activeElement) ? document.activeElement : null;
  root.dataset.recorder = state;
  document.documentElement.toggleAttribute("data-is-recorded", state === "on");
  for (const element of root.querySelectorAll("[data-rec-when]")) element.hidden = !element.dataset.recWhen.split(" ").includes(state);
  setText(part("title"), TITLES[state] ?? "Recording of this call");
  document.title = state === "on" ? `● Recording: ${title}` : title;
  if (icon) icon.href = state === "on" ? root.dataset.iconOn : usualIcon;
  for (const bar of parts("bar")) bar.hidden = state !== "on";
  part("asks").hidden = page.state() === "ended";
  part("no-microphone").hidden = !(["armed", "on"].includes(state) && whyNoMicrophone);
  setText(part("no-microphone-words"), `You are not recorded: ${whyNoMicrophone}.`);
  showTime();
  showMeters();
  showStanding();
  if (held) keepFocus(held);
}

function showTime() {
  const ms = recordedMs + (take ? take.lastsMs : 0);
  for (const place of parts("time")) {
    setText(place, ms ? page.clockText(ms) : "");
    place.dataset.ms = Math.round(ms);
  }
}

const NAMES = { [TESTER]: "you", [EMMA]: "Emma" };

function showMeters() {
  if (!sound || !["armed", "on"].includes(state)) return;
  for (const [place, name] of [[TESTER, "tester"], [EMMA, "emma"]]) {
    const level = sound.measure(place);
    const meter = part(`meter-${name}`);
    if (!document.hidden) meter.value = level;
  }
  setText(part("warns"), warning());
}

// What is missing of the two sides, in words.
function warning() {
  if (!sound.isThere(EMMA)) return "No sound was shared, so Emma's voice is not recorded, and who spoke when can't be measured. To have it: stop, go on recording, choose her tab and tick its sound.";
  const silent = [TESTER, EMMA].filter((place) => sound.isThere(place) && sound.silentForMs(place) > SILENT_FOR_MS);
  if (!silent.length) return "";
  const who = silent.map((place) => NAMES[place]).join(" and ");
  return `Nothing was heard of ${who} for ${Math.round(SILENT_FOR_MS / 1000)} seconds. ${silent.includes(TESTER) ? "Is the microphone muted, or another one chosen?" : "Is the right tab shared, with its sound?"}`;
}

const WHY_WAITING = {
  "signed out": "You are signed out, so it waits here. Sign in again, in another tab if you like.",
  gone: "The site does not open this call to whoever is signed in now, so it waits here.",
  unreachable: "It is tried again and again.",
};

async function showStanding() {
  const line = part("standing");
  const { count, words, isHeldByPageAlone } = key ? await kept.left(key) : {};
  isHeldHereAlone = Boolean(isHeldByPageAlone);
  if (!key) return void setText(line, "");
  const how = kept.how(key) ?? {};
  const isStuck = ["signed out", "gone", "unreachable", "refused", "over"].includes(how.is) || !navigator.onLine;
  const waits = navigator.onLine ? [how.words, WHY_WAITING[how.is]].filter(Boolean).join(" ") : "You are offline. It is sent once you are back.";
  line.classList.toggle("is-here", isStuck && count > 0);
  part("discards").hidden = !(["over", "refused"].includes(how.is) && ["off", "finishing"].includes(state));
  setText(line, isStuck && (count || how.words)
    ? `${isHeldByPageAlone ? "Held by this page" : "Kept here"}, not sent yet: ${words || "its end"}. ${waits}`
    : state === "on" ? "Sent as it comes." : state === "finishing" ? `Sending what is left${words ? `: ${words}` : ""}.` : count ? `Sending: ${words} left.` : how.is === "all here" ? "All of it is sent." : "Sending its end.");
}

// The list of this call's recordings comes from the site; what this card shows itself is not shown twice.
function hideOwn() {
  for (const row of document.querySelectorAll("[data-recording]")) row.hidden = Boolean(key) && key.endsWith(row.dataset.recording);
}

const list = document.querySelector("#recordings");
const askForList = () => window.htmx?.ajax("GET", root.dataset.list, { target: "#recordings", swap: "outerMorph" });
new MutationObserver(hideOwn).observe(root.parentElement, { childList: true, subtree: true });

kept.changed.addEventListener("change", async ({ detail }) => {
  if (detail.over && detail.over === key) {
    key = null;
    recordedMs = 0;
    say("");
    go("idle");
    speak("The whole recording has been sent.");
    await askForList();
  }
  showStanding();
});

// --- under the hand --------------------------------------------------------------------------------------------------

const ACTS = {
  ask: () => {
    if (state === "finishing") key = null; // it is sent all the same; this will be another one
    if (!key) recordedMs = 0;
    go("consent");
    part("agrees").focus();
  },
  "not-now": () => { go(key ? "off" : "idle"); part("asks").focus(); },
  agree: () => {
    const isAgreed = part("agrees").checked;
    part("must-agree").hidden = isAgreed;
    if (!isAgreed) return part("agrees").focus();
    agreedAt = performance.now();
    navigator.storage?.persist?.().catch(() => {});
    return record();
  },
  "go-on": () => (performance.now() < restsUntil ? undefined : agreedAt ? record() : ACTS.ask()),
  stop: () => stopTake(),
  finish,
  "connect-microphone": connectMicrophone,
  "look-again": resume,
  discard: async () => { if (confirm("What is kept here of this recording, and was not sent, is gone then. Discard it?")) { await kept.discard(key); } },
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-rec-act]");
  if (!button) return undefined;
  event.preventDefault();
  return ACTS[button.dataset.recAct]();
});

addEventListener("beforeunload", (event) => { if (isHeldHereAlone || ["armed", "on"].includes(state)) event.preventDefault(); });
addEventListener("online", () => showStanding());
addEventListener("offline", () => showStanding());
setInterval(() => { if (["armed", "on"].includes(state)) { showTime(); showMeters(); } }, METERS_EVERY_MS);

root.querySelectorAll("[data-rec-unscripted]").forEach((element) => element.remove());
if (!isAble()) go("unable");
else { show(); resume(); }
if (!isAble()) kept.send(); // what another browser mode left
