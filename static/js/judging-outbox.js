// Unsent grades: each is stored in the browser until the server has confirmed it, sent in order, and sent again with
// the same key when no answer came. Two tabs may send one grade twice; the key makes that harmless.

const RETRY = 5000;
const LONGEST_RETRY = 60000;
const PATIENCE = 20000;
const GRADES = "karat-grade:";
const REFUSED = "karat-refused:";
const FINAL = new Set([400, 404, 409, 413, 415]);

export class Outbox {
  #prefix;
  #refusals;
  #url;
  #csrf;
  #memory = new Map();
  #timer = null;
  #isSending = false;
  #listeners = [];
  isFailing = false;
  needsSignIn = false;
  retry = RETRY;
  words = "";

  constructor({ user, round, url, csrf }) {
    this.#prefix = `${GRADES}${user}:${round}:`;
    this.#refusals = `${REFUSED}${user}:${round}:`;
    this.#url = url;
    this.#csrf = csrf;
    addEventListener("online", () => this.flush());
    addEventListener("storage", (event) => this.#hear(event));
  }

  // Called with { sent, refused, elsewhere } after every change; all are absent when only the state changed.
  onChange(listener) {
    this.#listeners.push(listener);
  }

  get entries() {
    return [...stored(this.#prefix, this.#memory).values()].sort((a, b) => a.order - b.order);
  }

  get refused() {
    return [...stored(this.#refusals, this.#memory).values()].sort((a, b) => a.order - b.order);
  }

  get count() {
    return this.entries.length;
  }

  add(answer) {
    const order = Date.now() + performance.now() / 1e4;
    const entry = { ...answer, url: this.#url, idempotency_key: crypto.randomUUID?.() ?? randomKey(), order };
    this.#keep(this.#prefix + entry.idempotency_key, entry);
    this.#tell();
    this.flush();
    return entry;
  }

  // The refused grades have been read.
  forgetRefused() {
    for (const name of stored(this.#refusals, this.#memory).keys()) this.#drop(name);
    this.#tell();
  }

  async flush() {
    clearTimeout(this.#timer);
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      for (let next = this.entries[0]; next; next = this.entries[0]) {
        if (!(await this.#send(next))) break;
      }
    } finally {
      this.#isSending = false;
    }
    if (this.count > 0) this.#timer = setTimeout(() => this.flush(), this.retry);
  }

  async #send(entry) {
    const { order, query, url, ...body } = entry;
    let response;
    try {
      response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": csrfNow() ?? this.#csrf },
        body: JSON.stringify(body),
        credentials: "same-origin",
        keepalive: true,
        signal: AbortSignal.timeout?.(PATIENCE),
      });
    } catch {
      return this.#fail(false);
    }
    if (response.ok) return this.#settle(entry, { sent: entry });
    // Only an answer of our own, with its code, ends a grade: a proxy in between may send any answer.
    const problem = await response.json().catch(() => ({}));
    const isFinal = problem.code && (FINAL.has(response.status) || problem.code === "not_in_round");
    if (!isFinal) return this.#fail(response.status === 401 || response.status === 403, response, problem);
    const refused = { ...entry, reason: problem.detail ?? "It was refused." };
    this.#keep(this.#refusals + entry.idempotency_key, refused);
    return this.#settle(entry, { refused });
  }

  #settle(entry, news) {
    const name = this.#prefix + entry.idempotency_key;
    const isOurs = stored(this.#prefix, this.#memory).has(name);
    this.#drop(name);
    this.isFailing = false;
    this.needsSignIn = false;
    this.retry = RETRY;
    this.words = "";
    this.#tell(isOurs ? news : {});
    return true;
  }

  // A server that cannot save now answers 503 with Retry-After, which is used within bounds.
  #fail(needsSignIn, response, problem = {}) {
    const wait = Number(response?.headers.get("Retry-After")) * 1000;
    this.retry = wait > 0 ? Math.min(wait, LONGEST_RETRY) : RETRY;
    this.words = response?.status === 503 ? problem.detail ?? "" : "";
    this.isFailing = true;
    this.needsSignIn = needsSignIn;
    this.#tell();
    return false;
  }

  // Another tab gave a grade, or got an answer.
  #hear({ key, newValue, oldValue }) {
    if (key?.startsWith(this.#refusals)) this.#tell();
    if (!key?.startsWith(this.#prefix)) return;
    if (newValue && !oldValue) this.#tell({ elsewhere: JSON.parse(newValue) });
    else if (oldValue && !newValue) this.#tell(localStorage.getItem(key.replace(GRADES, REFUSED)) ? {} : { sent: JSON.parse(oldValue) });
  }

  #keep(name, entry) {
    try {
      localStorage.setItem(name, JSON.stringify(entry));
    } catch {
      this.#memory.set(name, entry);
    }
  }

  #drop(name) {
    this.#memory.delete(name);
    try {
      localStorage.removeItem(name);
    } catch {
      // It was in memory only.
    }
  }

  #tell(news = {}) {
    for (const listener of this.#listeners) listener(news);
  }
}

function stored(prefix, memory = new Map()) {
  const kept = new Map([...memory].filter(([name]) => name.startsWith(prefix)));
  try {
    for (let at = 0; at < localStorage.length; at += 1) {
      const name = localStorage.key(at);
      if (name.startsWith(prefix)) kept.set(name, JSON.parse(localStorage.getItem(name)));
    }
  } catch {
    // No storage here: only memory.
  }
  return kept;
}

// The rounds for which this browser has stored grades of this person, unsent or refused.
export function roundsKept(user) {
  const found = new Map();
  for (const [name, entry] of [...stored(`${GRADES}${user}:`), ...stored(`${REFUSED}${user}:`)]) found.set(name.split(":")[2], entry.url);
  return [...found];
}

// Signing in again changes the token; the cookie has the one that counts.
function csrfNow() {
  return document.cookie.match(/(?:^|;\s*)(?:__Host-)?karat-csrf=([^;]+)/)?.[1];
}

function randomKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
