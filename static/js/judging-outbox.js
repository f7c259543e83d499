// Grades on their way: each is kept in the browser until the server has answered for it, sent in order, and sent
// again under the same key when no answer came. Two tabs may send one grade twice; the key makes that harmless.

const RETRY = 5000;
const KEPT = (user, round) => `karat-grade:${user}:${round}:`;
const FINAL = new Set([400, 409, 413, 415]);

export class Outbox {
  #prefix;
  #url;
  #csrf;
  #memory = new Map();
  #timer = null;
  #isSending = false;
  #listeners = [];
  isFailing = false;
  needsSignIn = false;

  constructor({ user, round, url, csrf }) {
    this.#prefix = KEPT(user, round);
    this.#url = url;
    this.#csrf = csrf;
    addEventListener("online", () => this.flush());
    addEventListener("storage", (event) => event.key?.startsWith(this.#prefix) && this.#tell());
  }

  // Called with { sent, dropped } after every change; both are empty when only the state changed.
  onChange(listener) {
    this.#listeners.push(listener);
  }

  get entries() {
    const kept = new Map(this.#memory);
    try {
      for (let at = 0; at < localStorage.length; at += 1) {
        const name = localStorage.key(at);
        if (name.startsWith(this.#prefix)) kept.set(name, JSON.parse(localStorage.getItem(name)));
      }
    } catch {
      // No storage here: what is in memory is all there is.
    }
    return [...kept.values()].sort((a, b) => a.order - b.order);
  }

  get count() {
    return this.entries.length;
  }

  add(answer) {
    const entry = { ...answer, idempotency_key: crypto.randomUUID?.() ?? randomKey(), order: Date.now() + performance.now() / 1e4 };
    const name = this.#prefix + entry.idempotency_key;
    try {
      localStorage.setItem(name, JSON.stringify(entry));
    } catch {
      this.#memory.set(name, entry);
    }
    this.#tell();
    this.flush();
    return entry;
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
    if (this.count > 0) this.#timer = setTimeout(() => this.flush(), RETRY);
  }

  async #send(entry) {
    const { order, again, ...body } = entry;
    let response;
    try {
      response = await fetch(this.#url, {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": csrfNow() ?? this.#csrf },
        body: JSON.stringify(body),
        credentials: "same-origin",
        keepalive: true,
      });
    } catch {
      return this.#fail(false);
    }
    if (response.ok) return this.#settle(entry, { sent: entry });
    const problem = await response.json().catch(() => ({}));
    const isFinal = FINAL.has(response.status) || problem.code === "not_in_round";
    if (!isFinal) return this.#fail(response.status === 401 || response.status === 403);
    return this.#settle(entry, { dropped: { ...entry, reason: problem.detail ?? "It was refused." } });
  }

  #settle(entry, news) {
    const name = this.#prefix + entry.idempotency_key;
    this.#memory.delete(name);
    try {
      localStorage.removeItem(name);
    } catch {
      // It was in memory only.
    }
    this.isFailing = false;
    this.needsSignIn = false;
    this.#tell(news);
    return true;
  }

  #fail(needsSignIn) {
    this.isFailing = true;
    this.needsSignIn = needsSignIn;
    this.#tell();
    return false;
  }

  #tell(news = {}) {
    for (const listener of this.#listeners) listener(news);
  }
}

// Signing in again changes the token; the cookie has the one that counts.
function csrfNow() {
  return document.cookie.match(/(?:^|;\s*)(?:__Host-)?karat-csrf=([^;]+)/)?.[1];
}

function randomKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
